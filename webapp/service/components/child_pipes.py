"""Where the process of a call finds what it has: its descriptors, its folder, and its request, which comes later."""

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
_RULES, _REQUESTS = 5, 6  # those that it has at first: what it may reach, and where its call comes from
_DESCRIPTORS = 65_536


@dataclass(frozen=True, slots=True)
class Pipes:
    """The descriptors of one call: to write messages to, to print to, and by which the call comes, and the way to its
    broker with it."""

    messages: int
    prints: int
    requests: int


def received() -> bytes:
    """The request, once there is one. The process ends if nobody will send one.

    An empty one stands in a file, which comes with it before the way to the broker.
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


def settle(pipes: Pipes, folder: Path, restriction: Restriction | None) -> None:
    """Keep these descriptors alone, in a session and a folder of its own, with signals as a new process has them."""
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
    """A copy of ``descriptor`` that none of those we are about to set can overwrite."""
    copy = descriptor
    while copy <= _REQUESTS:
        copy = os.dup(copy)
    return copy
