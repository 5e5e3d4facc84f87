"""The descriptors, folder and request of the process of a call; the request arrives after the process has started."""

import os
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from webapp.service.components.confinement.landlock import Restriction
from webapp.service.components.wire import BLOCK, take

MESSAGES, BROKER = 3, 4
"""The descriptors that it works with."""
_RULES, _REQUESTS = 5, 6  # open only at first: the Landlock rules, and the socket that brings the call
_DESCRIPTORS = 65_536


@dataclass(frozen=True, slots=True)
class Pipes:
    """The descriptors of one call: for its messages, for its output, and for its request, which brings the broker's."""

    messages: int
    prints: int
    requests: int


def received() -> bytes:
    """Wait for the request and return it. The process exits if the runner closes the socket instead.

    A large request arrives as an empty message with the descriptor of a file, before the descriptor of the broker.
    """
    inbox, descriptors = bytearray(), list[int]()
    with socket.socket(fileno=_REQUESTS) as line:
        while (request := take(inbox)) is None:
            block, more, _, _ = socket.recv_fds(line, BLOCK, 2)
            descriptors += more
            if not block:
                os._exit(0)
            inbox += block
    if not request:
        with os.fdopen(descriptors.pop(0), "rb") as file:
            request = file.read()
    for descriptor in descriptors:
        os.dup2(descriptor, BROKER, inheritable=False)
        os.close(descriptor)
    return request


def set_up(pipes: Pipes, folder: Path, restriction: Restriction | None) -> None:
    """Keep only these descriptors; start a session, enter ``folder``, and reset signals to those of a new process."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    messages, prints = _above(pipes.messages), _above(pipes.prints)
    requests, no_broker = _above(pipes.requests), _above(nothing)
    for source, target in ((nothing, 0), (prints, 1), (prints, 2), (messages, MESSAGES), (no_broker, BROKER)):
        os.dup2(source, target, inheritable=target < MESSAGES)
    if restriction is not None:
        restriction.move(_RULES)
    os.dup2(requests, _REQUESTS, inheritable=False)
    os.closerange(_REQUESTS + 1, _DESCRIPTORS)
    if restriction is None:
        os.closerange(_RULES, _REQUESTS)
    sys.stdout = open(1, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115  # lives as long as we do
    sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def _above(descriptor: int) -> int:
    """A copy of ``descriptor`` above the numbers that :func:`set_up` assigns."""
    copy = descriptor
    while copy <= _REQUESTS:
        copy = os.dup(copy)
    return copy
