"""The runner from outside: how its program is started, and how to talk to it over a Unix socket in a private folder.

This is no way to the network, which belongs to ``outbound`` alone. A message is a JSON object, at most
:data:`MAX_MESSAGE` bytes long, after four bytes that tell its length (big-endian). Nothing is imported here that a
process which only starts the runner does not need.
"""

import contextlib
import os
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

import orjson

SOCKET = "runner.sock"
FOLDER = "patchbay-runner-"
"""How the private folders begin in which runners of a process's own listen; a runner holds its own."""
MAX_MESSAGE = 16 * 1024 * 1024
BLOCK = 64 * 1024
_LENGTH = struct.Struct(">I")
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")


class Broken(OSError):
    """What came is not a message of ours, or the other end hung up."""


def command(path: Path, lifeline: int) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment of a runner that listens at ``path`` until the descriptor ``lifeline`` closes.

    The environment carries no setting of ours, so that no component meets a key in it.
    """
    program = (
        f"import sys; sys.path[:] = {[entry for entry in sys.path if entry]!r}; sys.dont_write_bytecode = True\n"
        f"from webapp.service.components.runner_process import main; main({str(path)!r}, {lifeline})"
    )
    environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return [sys.executable, "-c", program], environment


def encode(message: Any) -> bytes:
    """``message`` as bytes, its length in front. Raises ``TypeError`` for what JSON cannot carry."""
    return frame(orjson.dumps(message))


def frame(payload: bytes) -> bytes:
    """``payload`` with its length in front."""
    return _LENGTH.pack(len(payload)) + payload


def take(inbox: bytearray) -> bytes | None:
    """The first whole payload in ``inbox``, taken out; None when more has to come. Raises :class:`Broken`."""
    if len(inbox) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(inbox)
    if length > MAX_MESSAGE:
        raise Broken(f"a message of {length} bytes")
    end = _LENGTH.size + length
    if len(inbox) < end:
        return None
    payload = bytes(inbox[_LENGTH.size : end])
    del inbox[:end]
    return payload


def listen(path: Path) -> socket.socket:
    """A listening socket at ``path``, in the place of any that stood there. It never blocks."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(draft))
        listener.listen(1024)
        listener.setblocking(False)
        draft.replace(path)
    except BaseException:
        listener.close()
        raise
    return listener


class Line:
    """The client's end of one conversation, all of it within ``deadline`` (monotonic seconds)."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection, self._deadline, self._inbox = connection, deadline, bytearray()

    @classmethod
    def open(cls, path: Path, deadline: float) -> "Line":
        """Connect to the socket at ``path``. Raises ``OSError``."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(_left(deadline))
            connection.connect(str(path))
        except BaseException:
            connection.close()
            raise
        return cls(connection, deadline)

    def send(self, message: bytes) -> None:
        """Send bytes that :func:`encode` or :func:`frame` made. Raises ``OSError``."""
        self._connection.settimeout(_left(self._deadline))
        self._connection.sendall(message)

    def receive(self) -> Any:
        """The next message. Raises ``OSError``, :class:`Broken`."""
        while (payload := take(self._inbox)) is None:
            self._connection.settimeout(_left(self._deadline))
            block = self._connection.recv(BLOCK)
            if not block:
                raise Broken("the other end hung up")
            self._inbox += block
        try:
            return orjson.loads(payload)
        except ValueError as error:
            raise Broken("not JSON") from error

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._connection.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left
