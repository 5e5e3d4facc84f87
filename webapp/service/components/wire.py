"""The runner from outside: how its program is started, and how to talk to it over a Unix socket in a private folder.

This is no way to the network, which belongs to ``outbound`` alone. A message is a JSON object, at most
:data:`MAX_MESSAGE` bytes long, after four bytes that tell its length (big-endian). Nothing is imported here that a
process which only starts the runner does not need.
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
    return LENGTH.pack(len(payload)) + payload


def take(inbox: bytearray) -> bytes | None:
    """The first whole payload in ``inbox``, taken out; None when more has to come. Raises :class:`Broken`."""
    if len(inbox) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(inbox)
    if length > MAX_MESSAGE:
        raise Broken(f"a message of {length} bytes")
    end = LENGTH.size + length
    if len(inbox) < end:
        return None
    payload = bytes(inbox[LENGTH.size : end])
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


def receive_descriptor(connection: int, size: int) -> tuple[bytes, int | None]:
    """At most ``size`` bytes from the Unix socket ``connection``, and a descriptor that came with them."""
    with socket.socket(fileno=os.dup(connection)) as copy:
        content, descriptors, _, _ = socket.recv_fds(copy, size, 1)
    return content, descriptors[0] if descriptors else None


class Beside(Protocol):
    """What else is waited for while a Line waits: another conversation of the same call."""

    def fileno(self) -> int: ...

    def answer(self, deadline: float) -> None: ...


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

    def send(self, message: bytes, descriptor: int | None = None) -> None:
        """Send bytes that :func:`encode` or :func:`frame` made, and a ``descriptor`` with them. Raises ``OSError``."""
        self._connection.settimeout(_left(self._deadline))
        count = 0 if descriptor is None else socket.send_fds(self._connection, [message], [descriptor])
        if count < len(message):  # else the other end may have answered already, and hung up
            self._connection.sendall(memoryview(message)[count:])

    def receive(self, beside: Beside | None = None) -> Any:
        """The next message; what comes for ``beside`` is answered meanwhile. Raises ``OSError``, :class:`Broken`."""
        while (payload := take(self._inbox)) is None:
            if beside is not None:
                self._wait(beside)
            self._connection.settimeout(_left(self._deadline))
            block = self._connection.recv(BLOCK)
            if not block:
                raise Broken("the other end hung up")
            self._inbox += block
        try:
            return orjson.loads(payload)
        except ValueError as error:
            raise Broken("not JSON") from error

    def receive_descriptor(self) -> tuple[Any, int | None]:
        """The next message, which is short, and a descriptor that came with it. Raises as :meth:`receive` does."""
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
        """Take at most so many ``seconds`` from now on."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    def fileno(self) -> int:
        """The descriptor to wait for; below 0 when it was closed."""
        return self._connection.fileno()

    def _wait(self, beside: Beside) -> None:
        """Until something can be received."""
        while beside.fileno() >= 0:
            poll = select.poll()
            poll.register(self._connection, select.POLLIN)
            poll.register(beside.fileno(), select.POLLIN)
            ready = {number for number, _ in poll.poll(_left(self._deadline) * 1000)}
            if self._connection.fileno() in ready:
                return
            if ready:
                beside.answer(self._deadline)

    def stop(self) -> None:
        """End the conversation from another thread; whoever waits for a message gets an ``OSError``."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._connection.close()


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left
