"""A provider for the real server that is held in the middle of a request as a test asks, and knows what it was told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

APP = """
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
source = "https://docs.example.com/"
[oauth]
authorize_url = "{origin}/authorize"
token_url = "{origin}/token"
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
"""
_HEAD = "from webapp.service.components.authoring import *\n"
COMPONENTS = {
    "subscribe": _HEAD
    + """
class Subscribe(Trigger):
    name = "Subscribe"
    description = "Keeps a subscription at the provider while it is active."
    http = http_interface()
    db = service_db()
    origin = string(label="Origin")
    topic = string(label="Topic")

    def activate(self, ctx):
        wanted = {"topic": ctx.props.topic, "url": ctx.endpoint}
        ctx.db.set("id", ctx.http.post(f"{ctx.props.origin}/subscriptions", json=wanted).json()["id"])

    def deactivate(self, ctx):
        place, known = f"{ctx.props.origin}/subscriptions", ctx.db.get("id")
        listed = [] if known else ctx.http.get(place).json()
        for id in [known] if known else [one["id"] for one in listed if one["url"] == ctx.endpoint]:
            ctx.http.delete(f"{place}/{id}")
        ctx.db.set("id", None)
        return True

    def run(self, ctx):
        ctx.emit({})
""",
    "work": _HEAD
    + """
class Work(Action):
    name = "Work"
    description = "Does work at the provider."
    annotations = dict(readOnlyHint=False, destructiveHint=False, idempotentHint=False, openWorldHint=True)
    origin = string(label="Origin")

    def run(self, ctx):
        return ctx.http.post(ctx.props.origin + "/work", json={}).json()
""",
}


@dataclass
class Upstream:
    """Answers at ``origin``. A request whose method and path begin with ``holds`` is done, and its answer held back.

    ``subscriptions`` are topic and URL by id; what is deleted once more is not found.
    """

    origin: str = ""
    holds: str = ""
    held: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    subscriptions: dict[str, tuple[str, str]] = field(default_factory=dict)
    made: int = 0
    refresh_token: str = "r0"
    dead: bool = False
    exchanges: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, request: str) -> None:
        """Hold back the next answers to ``request`` until :meth:`release`."""
        self.held.clear()
        self.released.clear()
        self.holds = request

    def release(self) -> None:
        """Let all go on."""
        self.holds = ""
        self.released.set()

    def take(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        """Do what a request asks; its status and answer."""
        with self.lock:
            status, answer = self._answer(method, path, body)
        if self.holds and f"{method} {path}".startswith(self.holds):
            self.held.set()
            self.released.wait(60)
        return status, answer

    def _answer(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        if path == "/token":
            return self._token(parse_qs(body.decode()))
        if path.startswith("/subscriptions"):
            return self._subscribe(method, path.rpartition("/")[2], body)
        return 200, {"id": "u1"}

    def _subscribe(self, method: str, key: str, body: bytes) -> tuple[int, object]:
        if method == "GET":
            return 200, [{"id": id, "url": url} for id, (_, url) in self.subscriptions.items()]
        if method == "DELETE":
            return (
                (200, {}) if self.subscriptions.pop(key, None) else (404, {"error": "There is no such subscription."})
            )
        self.made += 1
        wanted = json.loads(body)
        self.subscriptions[f"s{self.made}"] = (wanted["topic"], wanted["url"])
        return 201, {"id": f"s{self.made}"}

    def _token(self, form: dict[str, list[str]]) -> tuple[int, object]:
        if form.get("grant_type") == ["authorization_code"]:
            return 200, {"access_token": "a", "refresh_token": "of nobody", "token_type": "bearer", "expires_in": 3600}
        if self.dead or form.get("refresh_token") != [self.refresh_token]:
            self.dead = True  # RFC 9700 section 4.14.2
            return 400, {"error": "invalid_grant"}
        self.exchanges += 1
        self.refresh_token = f"r{self.exchanges}"
        rotated = {"access_token": f"a{self.exchanges}", "refresh_token": self.refresh_token}
        return 200, {**rotated, "token_type": "bearer", "expires_in": 3600}


@contextmanager
def providing() -> Iterator[Upstream]:
    """An upstream, until the block ends."""
    upstream = Upstream()

    class Handler(BaseHTTPRequestHandler):
        def _take(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = upstream.take(self.command, self.path, body)
            payload = json.dumps(answer).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)
            except OSError:
                self.close_connection = True  # whoever asked is dead

        do_GET = do_POST = do_PUT = do_DELETE = _take

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    upstream.origin = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield upstream
    finally:
        upstream.release()
        server.shutdown()
        server.server_close()
        thread.join()
