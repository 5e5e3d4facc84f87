"""A small OAuth provider on loopback whose every answer a test decides; it stands for no real provider.

It rotates refresh tokens and revokes the grant when an old one comes back (RFC 9700 section 4.14.2), so that a
second refresh of the same token shows as a dead grant.
"""

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus

APP_TOML = """
slug = "acme"
name = "Acme"
description = "An app of the tests."
categories = ["developer_tools"]
auth_type = "oauth"
docs_url = "https://docs.example.com/"
sources = ["https://docs.example.com/"]
base_url = "{origin}"
allowed_hosts = ["{origin}"]

[logo]
letter = "A"
color = "#336699"

[[credentials]]
place = "bearer"
source = "https://docs.example.com/"

[test]
url = "/me"
source = "https://docs.example.com/"

[identity]
id = "id"
name = "name"
email = "email"
source = "https://docs.example.com/"

[oauth]
authorize_url = "{origin}/authorize"
token_url = "{origin}/token"
revoke_url = "{origin}/revoke"
refresh = "rotating"
sources = ["https://docs.example.com/"]

[oauth.client]
console_url = "https://docs.example.com/"
steps = ["Make a client."]
source = "https://docs.example.com/"

[[oauth.scopes]]
scope = "read"
words = "see your things"
functional = true

[[oauth.scopes]]
scope = "write"
words = "change your things"

[[oauth.scope_profiles]]
name = "full"
scopes = ["read", "write"]

[[oauth.scope_profiles]]
name = "read_only"
scopes = ["read"]
"""

SESSION_TOML = """
slug = "acmekeys"
name = "Acme Keys"
description = "An app of the tests, whose password gives a session."
categories = ["developer_tools"]
auth_type = "keys"
docs_url = "https://docs.example.com/"
sources = ["https://docs.example.com/"]
base_url = "{origin}"
allowed_hosts = ["{origin}"]

[logo]
letter = "A"
color = "#336699"

[[fields]]
name = "user"
label = "User"

[[fields]]
name = "password"
label = "Password"
secret = true

[session]
url = "/session"
form = { user = "{user}", password = "{password}" }
token = "id"
expires_in = "life"
life_s = 3600
keep = { site = "site" }
source = "https://docs.example.com/"

[[credentials]]
place = "header"
name = "X-Session"
value = "{session_token}"
source = "https://docs.example.com/"

[test]
url = "/me"
source = "https://docs.example.com/"

[identity]
id = "id"
name = "name"
source = "https://docs.example.com/"
"""

SIGNED_TOML = """
slug = "acmesigned"
name = "Acme Signed"
description = "An app of the tests, whose key signs each request."
categories = ["developer_tools"]
auth_type = "keys"
docs_url = "https://docs.example.com/"
sources = ["https://docs.example.com/"]
base_url = "{origin}"
allowed_hosts = ["{origin}"]

[logo]
letter = "A"
color = "#336699"

[[fields]]
name = "access_key_id"
label = "Access key ID"
secret = true

[[fields]]
name = "secret_access_key"
label = "Secret access key"
secret = true

[[fields]]
name = "session_token"
label = "Session token"
secret = true
optional = true

[[credentials]]
place = "sigv4"
source = "https://docs.example.com/"

[credentials.parts]
access_key_id = "{access_key_id}"
secret_access_key = "{secret_access_key}"
session_token = "{session_token}"
region = "eu-west-1"
service = "s3"

[test]
url = "/me"
source = "https://docs.example.com/"
"""

_URLS = 'authorize_url = "{origin}/authorize"\ntoken_url = "{origin}/token"\nrevoke_url = "{origin}/revoke"'
ISSUER_TOML = APP_TOML.replace('"acme"', '"acmeissuer"').replace(_URLS, 'issuer = "{origin}"')
APPS = {"acme": APP_TOML, "acmekeys": SESSION_TOML, "acmesigned": SIGNED_TOML, "acmeissuer": ISSUER_TOML}

Play = Callable[[BaseHTTPRequestHandler], None]
"""Answers one request in a way of its own; kept by the path that it stands at."""


class FakeProvider:
    """What the provider does, and what it was asked. Change the attributes between calls."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.port = 0
        self.token_calls = 0
        self.me_calls = 0
        self.current = "r0"
        self.dead = False
        self.expires_in: int | None = 3600
        self.token_status = 200
        self.me_status = 200
        self.token_body: bytes | None = None
        self.send_refresh = True
        self.delay_s = 0.0
        self.identity = {"id": "u1", "name": "Ada"}
        self.revoked: list[str] = []
        self.grants: dict[str, int] | None = None
        self.plays: dict[str, Play] = {}
        self.posted = b""  # the last body
        self.clients: dict[str, str] | None = None  # id and secret of those it knows, where it looks at the client
        self.unknown = (401, "invalid_client")  # its answer to the others
        self.refused_code: tuple[int, str] | None = None  # its answer to a code, where it looks at that

    @property
    def origin(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def token(self, form: dict[str, str]) -> tuple[int, bytes]:
        """Answer the token endpoint."""
        threading.Event().wait(self.delay_s)
        with self.lock:
            self.token_calls += 1
            if self.token_status != 200:
                return self.token_status, b"{}"
            if self.token_body is not None:
                return 200, self.token_body
            if self.clients is not None and self.clients.get(form["client_id"]) != form.get("client_secret"):
                return self.unknown[0], json.dumps({"error": self.unknown[1]}).encode()
            if self.refused_code and form.get("grant_type") == "authorization_code":
                return self.refused_code[0], json.dumps({"error": self.refused_code[1]}).encode()
            if form.get("grant_type") == "authorization_code":
                first = {
                    "access_token": "a0",
                    "token_type": "bearer",
                    "refresh_token": self.current,
                    "expires_in": 3600,
                }
                return 200, json.dumps(first).encode()
            if self.grants is not None:
                return self._of_many(form["refresh_token"])
            if self.dead or form.get("refresh_token") != self.current:
                self.dead = True
                return 400, b'{"error": "invalid_grant"}'
            answer: dict[str, Any] = {"access_token": f"a{self.token_calls}", "token_type": "bearer"}
            if self.expires_in is not None:
                answer["expires_in"] = self.expires_in
            if self.send_refresh:
                self.current = answer["refresh_token"] = f"r{self.token_calls}"
            return 200, json.dumps(answer).encode()

    def _of_many(self, token: str) -> tuple[int, bytes]:
        """Many grants side by side: the token ``name.number`` works once, and only after all lower numbers."""
        assert self.grants is not None
        name, _, number = token.partition(".")
        if int(number) != self.grants.setdefault(name, 0):
            return 400, b'{"error": "invalid_grant"}'
        self.grants[name] += 1
        rotated = f"{name}.{self.grants[name]}"
        answer = {"access_token": f"a-{rotated}", "token_type": "bearer", "refresh_token": rotated, "expires_in": 3600}
        return 200, json.dumps(answer).encode()

    def me(self) -> tuple[int, bytes]:
        """Answer who the token belongs to."""
        with self.lock:
            self.me_calls += 1
        return self.me_status, json.dumps(self.identity).encode()


@contextmanager
def seat() -> Iterator[int]:
    """A port that nobody else gets while the block lasts, and on which one provider after another may answer."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


class _Server(ThreadingHTTPServer):
    allow_reuse_port = True
    request_queue_size = 128


@contextmanager
def serving(port: int = 0) -> Iterator[FakeProvider]:
    """A provider that answers until the block ends; ``port`` is one that :func:`seat` holds, or any."""
    provider = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path in provider.plays:
                return provider.plays[self.path](self)
            return self._answer(*provider.me())

        def do_POST(self) -> None:
            provider.posted = self.rfile.read(int(self.headers["Content-Length"]))
            body = provider.posted.decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            scheme, _, basic = self.headers.get("Authorization", "").partition(" ")
            if scheme == "Basic":  # RFC 6749 section 2.3.1
                user, _, password = base64.b64decode(basic).decode().partition(":")
                form |= {"client_id": unquote_plus(user), "client_secret": unquote_plus(password)}
            if self.path in provider.plays:
                return provider.plays[self.path](self)
            if self.path == "/revoke":
                provider.revoked.append(form["token"])
                return self._answer(200, b"{}")
            return self._answer(*provider.token(form))

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = _Server(("127.0.0.1", port), Handler)
    provider.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
