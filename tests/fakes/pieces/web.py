"""Providers that pieces ask, played on loopback under their real names.

TLS stays end to end: a piece trusts the tests' authority, and what it opens to port 443 of a played name arrives
here. Everything else about its connections is as it is in an installation.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.fakes.certificates import Authority
from tests.once import runners


@dataclass(frozen=True)
class Asked:
    """A request: ``path`` without its query; ``body`` as JSON or a form, else as text."""

    method: str
    host: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None

    @property
    def place(self) -> str:
        """The method and the path."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Said:
    """An answer; ``body`` is JSON, or bytes as they are."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Answers = Callable[[Asked], Said]


class Web(ThreadingHTTPServer):
    """Answers for each of the names in ``hosts``; ``asked`` are the requests that came."""

    daemon_threads = True

    def __init__(self, folder: Path, hosts: Mapping[str, Answers]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hosts, self.asked = dict(hosts), list[Asked]()
        self.authority = Authority(folder)
        self.socket = self.authority.context(*sorted(hosts)).wrap_socket(self.socket, server_side=True)
        self.port: int = self.server_address[1]

    def places(self, host: str) -> list[str]:
        """What ``host`` was asked."""
        return [asked.place for asked in self.asked if asked.host == host]

    def handle_error(self, *_: object) -> None:
        """A client that goes away is none of ours."""


class _Handler(BaseHTTPRequestHandler):
    server: Web
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address, host = urlsplit(self.path), self.headers.get("host", "").partition(":")[0]
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = _read(raw, headers.get("content-type", ""))
        asked = Asked(self.command, host, address.path, dict(parse_qsl(address.query)), headers, body)
        self.server.asked.append(asked)
        answers = self.server.hosts.get(host)
        said = answers(asked) if answers else Said({"error": "nobody is called so"}, 404)
        content = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
        self.send_response(said.status)
        for name, value in {"content-type": "application/json", **said.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        """Stay silent."""


def _read(raw: bytes, content_type: str) -> Any:
    if "x-www-form-urlencoded" in content_type:
        return dict(parse_qsl(raw.decode()))
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw.decode("utf-8", "replace")


@contextmanager
def playing(folder: Path, hosts: Mapping[str, Answers], patch: pytest.MonkeyPatch) -> Iterator[Web]:
    """Play ``hosts``, for the connections of pieces whose runner is started meanwhile."""
    web = Web(folder, hosts)
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    patch.setenv("SSL_CERT_FILE", web.authority.ca_file)
    runners.start_own(patch)
    try:
        _lead_here(web, patch)
        yield web
    finally:
        web.shutdown()
        thread.join()
        web.server_close()


def _lead_here(web: Web, patch: pytest.MonkeyPatch) -> None:
    """Let what pieces open to port 443 of these hosts arrive at ``web``."""
    import socket

    from webapp.kit.clock import Deadline
    from webapp.service.components.pieces import channels
    from webapp.service.outbound.failures import Failure

    connected = channels.connected

    def rerouted(allow_hosts: tuple[str, ...], host: str, port: int, deadline: Deadline) -> socket.socket | Failure:
        if host in web.hosts and port == 443:
            return socket.create_connection(("127.0.0.1", web.port), 5)
        return connected(allow_hosts, host, port, deadline)

    patch.setattr(channels, "connected", rerouted)
