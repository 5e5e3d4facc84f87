"""Real peers on loopback for the outbound tests: scripted TCP servers, a certificate authority, an HTTP server."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fakes import ssrf
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard


@pytest.fixture
def connects() -> list[object]:
    """Every address that any socket of this process was told to connect to, from the start of the test."""
    ssrf.listen()
    return ssrf.connects


@dataclass
class Peer:
    """A TCP server that plays `script` to each connection; keeps what it read and how often it was reached."""

    script: Callable[[socket.socket, bytes], None]
    context: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._listener = socket.create_server((self.host, 0), family=family)
        self.port: int = self._listener.getsockname()[1]
        self.closing = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.closing.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,))
            thread.start()
            self._threads.append(thread)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(5)
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
            with connection:
                request = _read_request(connection)
                self.requests.append(request)
                self.script(connection, request)


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        block = connection.recv(65536)
        if not block:
            return data
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(x.split(b":")[1]) for x in head.lower().split(b"\r\n") if x[:15] == b"content-length:"), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.fixture
def peer() -> Iterator[Callable[..., Peer]]:
    """Start Peers: `peer(b"raw bytes")`, or `peer(script)` with a function of connection and request."""
    started: list[Peer] = []

    def start(script: bytes | Callable[[socket.socket, bytes], None], **options: object) -> Peer:
        if isinstance(script, bytes):
            answer = script
            script = lambda connection, _: connection.sendall(answer)  # noqa: E731
        started.append(Peer(script, **options))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def reach() -> Callable[..., OutboundClient]:
    """A client that may reach the given peers by 127.0.0.1 and their port."""

    def make(*peers: Peer, ca_file: str | None = None) -> OutboundClient:
        guard = Guard([f"127.0.0.1:{one.port}" for one in peers])
        return OutboundClient(guard, user_agent="Patchbay-Test", ca_file=ca_file)

    return make


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> "Authority":
    return Authority(tmp_path_factory.mktemp("ca"))


class Authority:
    """A certificate authority of our own, and server contexts with certificates it signed (or did not)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Patchbay test authority")])
        certificate = (
            self._builder(self._name, self._key, 30)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signing=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.ca_file = str(folder / "ca.pem")
        Path(self.ca_file).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def context(self, name: str, *, days: int = 30, trusted: bool = True) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        alternative = x509.DNSName(name) if not name[0].isdigit() else x509.IPAddress(ip_address(name))
        certificate = (
            self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key, days)
            .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key if trusted else ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
        )
        file = self._folder / f"{name}-{days}-{trusted}.pem"
        file.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: int) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=60))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        )


def _usage(*, signing: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signing,
        crl_sign=signing,
        encipher_only=False,
        decipher_only=False,
    )
