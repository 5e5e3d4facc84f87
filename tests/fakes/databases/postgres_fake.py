"""As much of a PostgreSQL server as one sign-in and one query need (protocol 3.0), on loopback, for one user."""

import socket
import struct
from dataclasses import dataclass

_SSL_REQUEST = 80877103
_READY = (b"Z", b"I")


@dataclass
class DatabaseServer:
    """Whom the server lets in. While it is ``down``, it hangs up on everyone."""

    user: str
    password: str
    port: int = 0
    down: bool = False

    def converse(self, connection: socket.socket) -> None:
        """Play the server's part until the client leaves."""
        if self.down:
            return
        startup = _startup(connection)
        if struct.unpack(">i", startup[:4])[0] == _SSL_REQUEST:
            connection.sendall(b"N")
            startup = _startup(connection)
        said = startup[4:].split(b"\0")
        user = said[said.index(b"user") + 1].decode()
        _send(connection, (b"R", struct.pack(">i", 3)))
        _, password = _message(connection)
        if (user, password.rstrip(b"\0").decode()) != (self.user, self.password):
            text = f'password authentication failed for user "{user}"'.encode()
            _send(connection, (b"E", b"SFATAL\0C28P01\0M" + text + b"\0\0"))
            return
        _send(connection, (b"R", struct.pack(">i", 0)), (b"S", b"client_encoding\0UTF8\0"), _READY)
        _answer(connection, user)


def _answer(connection: socket.socket, user: str) -> None:
    columns = b"".join(name + b"\0" + struct.pack(">ihihih", 0, 0, 25, -1, -1, 0) for name in (b"user", b"version"))
    values = [user.encode(), b"PostgreSQL 17 of the tests"]
    row = b"".join(struct.pack(">i", len(value)) + value for value in values)
    described = (b"T", struct.pack(">h", 2) + columns)
    rows = ((b"D", struct.pack(">h", 2) + row), (b"C", b"SELECT 1\0"))
    replies = {b"Q": (described, *rows, _READY), b"P": ((b"1", b""),), b"B": ((b"2", b""),)}
    replies |= {b"D": (described,), b"E": rows, b"S": (_READY,)}
    while True:
        kind, _ = _message(connection)
        if kind not in replies:
            return
        _send(connection, *replies[kind])


def _send(connection: socket.socket, *messages: tuple[bytes, bytes]) -> None:
    connection.sendall(b"".join(kind + struct.pack(">i", len(body) + 4) + body for kind, body in messages))


def _startup(connection: socket.socket) -> bytes:
    (length,) = struct.unpack(">i", _read(connection, 4))
    return _read(connection, length - 4)


def _message(connection: socket.socket) -> tuple[bytes, bytes]:
    kind = _read(connection, 1)
    (length,) = struct.unpack(">i", _read(connection, 4))
    return kind, _read(connection, length - 4)


def _read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        block = connection.recv(count - len(data))
        if not block:
            raise ConnectionError("the client left")
        data += block
    return data
