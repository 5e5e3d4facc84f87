"""The protocol of the runner: the command that starts it, and messages over a Unix socket in a private folder.

A message is a JSON object of at most :data:`MAX_MESSAGE` bytes after its length in four bytes (big-endian). Network
connections are left to ``outbound``. The module imports only what a process that starts the runner needs.
"""

import contextlib
import os
import select
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any, Protocol

import orjson

SOCKET = "runner.sock"
FOLDER = "patchbay-runner-"
"""How the private folders begin in which runners of a process's own listen; a runner holds its own."""
MAX_MESSAGE = 16 * 1024 * 1024
BLOCK = 64 * 1024
LENGTH = struct.Struct(">I")
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")


class ProtocolError(OSError):
    """The peer sent an invalid message or closed the connection."""


def command(path: Path, lifeline: int) -> tuple[list[str], dict[str, str]]:
    """The arguments and environment of a runner that listens at ``path`` until the descriptor ``lifeline`` closes.

    The environment has none of our settings, so that no component finds a key in it.
    """
    program = (
        f"import sys; sys.path[:] = {[entry for entry in sys.path if entry]!r}; sys.dont_write_bytecode = True\n"
        f"from webapp.service.components.runner_process import main; main({str(path)!r}, {lifeline})"
    )
    environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return [sys.executable, "-c", program], environment


def encode(message: Any) -> bytes:
    """``message`` as JSON after its length. Raises ``TypeError`` if it cannot be serialized."""
    return frame(orjson.dumps(message))


def frame(payload: bytes) -> bytes:
    """``payload`` after its length."""
    return LENGTH.pack(len(payload)) + payload


def take(inbox: bytearray) -> bytes | None:
    """Remove the first complete payload from ``inbox`` and return it; None if it is incomplete.

    Raises :class:`ProtocolError`.
    """
    if len(inbox) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(inbox)
    if length > MAX_MESSAGE:
        raise ProtocolError(f"a message of {length} bytes")
    end = LENGTH.size + length
    if len(inbox) < end:
        return None
    payload = bytes(inbox[LENGTH.size : end])
    del inbox[:end]
    return payload


def listen(path: Path) -> socket.socket:
    """Return a non-blocking socket that listens at ``path``; an older socket there is replaced."""
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


def receive_descriptor(connection: int, size: int) -> tuple[bytes, int | None]:
    """Receive at most ``size`` bytes from the Unix socket ``connection``, and the descriptor sent with them, or
    None."""
    with socket.socket(fileno=os.dup(connection)) as copy:
        content, descriptors, _, _ = socket.recv_fds(copy, size, 1)
    return content, descriptors[0] if descriptors else None


class SideChannel(Protocol):
    """Another connection of the same call that is answered while a :class:`Line` waits, such as a broker."""

    def fileno(self) -> int: ...

    def answer(self, deadline: float) -> None: ...


class Line:
    """The client's end of one connection to the runner. It ends at ``deadline`` (monotonic seconds)."""

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

    def send(self, message: bytes, descriptor: int | None = None) -> None:
        """Send bytes from :func:`encode` or :func:`frame`, with a ``descriptor`` if given. Raises ``OSError``."""
        self._connection.settimeout(_left(self._deadline))
        count = 0 if descriptor is None else socket.send_fds(self._connection, [message], [descriptor])
        if count < len(message):  # else the runner may already have answered and closed
            self._connection.sendall(memoryview(message)[count:])

    def receive(self, side: SideChannel | None = None) -> Any:
        """Receive the next message and answer ``side`` meanwhile. Raises ``OSError`` and :class:`ProtocolError`."""
        while (payload := take(self._inbox)) is None:
            if side is not None:
                self._wait(side)
            self._connection.settimeout(_left(self._deadline))
            block = self._connection.recv(BLOCK)
            if not block:
                raise ProtocolError("the other end hung up")
            self._inbox += block
        try:
            return orjson.loads(payload)
        except ValueError as error:
            raise ProtocolError("not JSON") from error

    def receive_descriptor(self) -> tuple[Any, int | None]:
        """Receive a short message and the descriptor sent with it, or None. Raises as :meth:`receive` does."""
        self._connection.settimeout(_left(self._deadline))
        block, descriptors, _, _ = socket.recv_fds(self._connection, BLOCK, 1)
        self._inbox += block
        descriptor = descriptors[0] if descriptors else None
        try:
            return self.receive(), descriptor
        except BaseException:
            if descriptor is not None:
                os.close(descriptor)
            raise

    def shorten(self, seconds: float) -> None:
        """Move the deadline to at most ``seconds`` from now."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def fileno(self) -> int:
        """The descriptor to wait for; negative after :meth:`close`."""
        return self._connection.fileno()

    def _wait(self, side: SideChannel) -> None:
        """Wait until a message can be received, answering ``side`` meanwhile."""
        while side.fileno() >= 0:
            poll = select.poll()
            poll.register(self._connection, select.POLLIN)
            poll.register(side.fileno(), select.POLLIN)
            ready = {number for number, _ in poll.poll(_left(self._deadline) * 1000)}
            if self._connection.fileno() in ready:
                return
            if ready:
                side.answer(self._deadline)

    def stop(self) -> None:
        """End the connection from another thread; a waiting :meth:`receive` raises ``OSError``."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(OSError):
            self._connection.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left
