"""As much of a MySQL server as one sign-in and one query need (protocol 4.1), on loopback, for one user."""

import hashlib
import socket
import struct
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

_SALT = b"abcdefgh01234567890!"
_FLAGS = 0x1 | 0x8 | 0x200 | 0x8000 | 0x80000  # long password, database, protocol 4.1, secure connection, plugins
_AUTOCOMMIT = 0x2
_OK = b"\0\0\0" + struct.pack("<HH", _AUTOCOMMIT, 0)
_END = b"\xfe" + struct.pack("<HH", 0, _AUTOCOMMIT)
_VAR_STRING, _QUIT, _QUERY, _FILE = 0xFD, 1, 3, b"\xfb/etc/passwd"


@dataclass
class MySQLServer:
    """Whom the server lets in. While it is ``down``, it hangs up on everyone; a ``thief`` asks for a file."""

    user: str
    password: str
    port: int = 0
    down: bool = False
    thief: bool = False
    plugin: bytes = b"mysql_native_password"
    got: bytes = b""

    def converse(self, connection: socket.socket) -> None:
        """Play the server's part until the client leaves."""
        if self.down:
            return
        _send(connection, 0, self._greeting())
        answer = _packet(connection)[32:]
        user, rest = answer.split(b"\0", 1)
        scramble = rest[1 : 1 + rest[0]]
        number, right = 2, scramble == _scramble(self.password)
        if self.plugin == b"caching_sha2_password":
            number, right = 8, self._by_key(connection)
        elif self.plugin != b"mysql_native_password":
            _send(connection, 2, b"\xfe" + self.plugin + b"\0")
            self.got = _packet(connection)
            return
        if user.decode() != self.user or not right:
            text = f"Access denied for user '{user.decode()}'".encode()
            _send(connection, number, b"\xff" + struct.pack("<H", 1045) + b"#28000" + text)
            return
        _send(connection, number, _OK)
        while (packet := _packet(connection))[0] != _QUIT:
            if packet[0] == _QUERY and packet[1:].lower().startswith(b"select"):
                if self.thief:
                    _send(connection, 1, _FILE)
                    self.got = _packet(connection)
                    continue
                columns = [_column(name) for name in (b"user", b"version")]
                row = _text(user + b"@%") + _text(b"8.4 of the tests")
                _send(connection, 1, b"\x02", *columns, _END, row, _END)
            else:
                _send(connection, 1, _OK)

    def _by_key(self, connection: socket.socket) -> bool:
        """The full sign-in of caching_sha2_password without encryption: the password comes under the server's key."""
        _send(connection, 2, b"\xfe" + self.plugin + b"\0" + _SALT + b"\0")
        _packet(connection)  # what it would be known by, had it signed in before
        _send(connection, 4, b"\x01\x04")
        assert _packet(connection) == b"\x02"
        key = rsa.generate_private_key(65537, 2048)
        form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        _send(connection, 6, b"\x01" + key.public_key().public_bytes(*form))
        sha1 = hashes.SHA1()
        masked = key.decrypt(_packet(connection), padding.OAEP(padding.MGF1(sha1), sha1, None))
        password = bytes(left ^ _SALT[place % len(_SALT)] for place, left in enumerate(masked))
        return password == self.password.encode() + b"\0"

    def _greeting(self) -> bytes:
        low, high = struct.unpack("<HH", struct.pack("<I", _FLAGS))
        start = b"\x0a8.4.0\0" + struct.pack("<I", 7) + _SALT[:8] + b"\0"
        facts = struct.pack("<HBHHB", low, 45, _AUTOCOMMIT, high, len(_SALT) + 1)
        return start + facts + bytes(10) + _SALT[8:] + b"\0" + b"mysql_native_password\0"


def _scramble(password: str) -> bytes:
    once = hashlib.sha1(password.encode()).digest()
    mask = hashlib.sha1(_SALT + hashlib.sha1(once).digest()).digest()
    return bytes(left ^ right for left, right in zip(once, mask, strict=True))


def _column(name: bytes) -> bytes:
    texts = b"".join(map(_text, (b"def", b"", b"", b"", name, name)))
    return texts + b"\x0c" + struct.pack("<HIBHBH", 45, 1024, _VAR_STRING, 0, 0, 0)


def _text(value: bytes) -> bytes:
    return bytes([len(value)]) + value


def _send(connection: socket.socket, number: int, *packets: bytes) -> None:
    frames = [struct.pack("<I", len(body))[:3] + bytes([number + place]) + body for place, body in enumerate(packets)]
    connection.sendall(b"".join(frames))


def _packet(connection: socket.socket) -> bytes:
    head = _read(connection, 4)
    return _read(connection, int.from_bytes(head[:3], "little"))


def _read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        block = connection.recv(count - len(data))
        if not block:
            raise ConnectionError("the client left")
        data += block
    return data
