"""The fake provider of ``calls/<app>.toml``: it answers the requests of one call in order, and tells what else came."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from tests.service.catalog.components.providers.calls_form import Ask
from webapp.service.catalog.app import App
from webapp.service.components.calls import AccountGrant
from webapp.service.outbound.placements import Applied, apply

FORM = "application/x-www-form-urlencoded"
_UNASKED = b'{"message": "The file of calls has no such request here."}'


@dataclass
class FakeProvider:
    """Answers the requests of one call, in order; ``problems`` tells what else came."""

    host: str
    base_url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    credential: Applied = field(default_factory=Applied)
    asks: list[Ask] = field(default_factory=list)
    turn: int = 0
    problems: list[str] = field(default_factory=list)

    def expect(self, app: App, grant: AccountGrant, asks: list[Ask]) -> None:
        """Begin a call."""
        self.base_url = (grant.base_url or "").rstrip("/")
        self.credential = apply(app.placements, grant.values)
        self.headers = {**grant.headers, **self.credential.headers}
        self.asks, self.turn, self.problems = asks, 0, []

    def check(self) -> None:
        """Fail where anything was asked otherwise than expected, or not at all."""
        assert not self.problems, "\n".join(self.problems)
        assert self.turn == len(self.asks), f"never asked: {[ask.request for ask in self.asks[self.turn :]]}"

    def answer(self, method: str, address: str, headers: Mapping[str, str], body: bytes) -> Ask | None:
        """What the request is answered with; None for one that nobody expects."""
        whole, _, query = address.partition("?")
        request = f"{method} {whole.removeprefix(self.base_url) if whole.startswith(self.base_url) else whole}"
        if self.turn >= len(self.asks):
            self.problems.append(f"asked beyond the last: {request}?{query} {body.decode(errors='replace')}")
            return None
        ask = self.asks[self.turn]
        wanted = {**self.headers, **ask.headers}
        seen = {
            "request": request,
            "query": _flat(query),
            "headers": {name: headers.get(name.lower()) for name in wanted},
            "body": _read(headers.get("content-type", ""), body),
        }
        expected = {
            "request": ask.request,
            "query": {**ask.query, **self.credential.params},
            "headers": wanted,
            "body": self._body(ask),
        }
        signed = self.credential.sign is None or headers.get("authorization", "")[:6] in ("AWS4-H", "OAuth ")
        if not signed:
            self.problems.append(f"{request} came without a signature")
        differences = [name for name in expected if seen[name] != expected[name]]
        if differences:
            self.problems += [f"{name}: came {seen[name]!r}, expected {expected[name]!r}" for name in differences]
            return None
        self.turn += 1
        return ask

    def _body(self, ask: Ask) -> tuple[str, Any]:
        kinds = {"json": ask.json_, "form": ask.form, "multipart": ask.multipart, "text": ask.text}
        names = [name for name in kinds if name.replace("json", "json_") in ask.model_fields_set]
        if not names:
            return ("json" if self.credential.body else "none"), dict(self.credential.body) or None
        kind = names[0]
        return kind, {**kinds[kind], **self.credential.body} if isinstance(kinds[kind], dict) else kinds[kind]


@contextmanager
def fake_provider() -> Iterator[FakeProvider]:
    """The one fake, running."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    provider = FakeProvider(f"127.0.0.1:{server.server_address[1]}")
    _Handler.provider = provider
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield provider
    server.shutdown()
    thread.join()
    server.server_close()


class _Handler(BaseHTTPRequestHandler):
    provider: FakeProvider

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        ask = self.provider.answer(self.command, self.path.removeprefix("/"), headers, body)
        if ask is None:
            self._send(418, {}, _UNASKED)
        elif ask.answer_text is not None:
            self._send(ask.status, {"Content-Type": "text/plain", **ask.answer_headers}, ask.answer_text.encode())
        else:
            raw = json.dumps(ask.answer).encode() if "answer" in ask.model_fields_set else b""
            self._send(ask.status, {"Content-Type": "application/json", **ask.answer_headers}, raw)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def _send(self, status: int, headers: Mapping[str, str], raw: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


def _flat(query: str) -> dict[str, str | list[str]]:
    fields = parse_qs(query, keep_blank_values=True)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _read(content_type: str, body: bytes) -> tuple[str, Any]:
    """The kind of a body, and what it holds."""
    kind = content_type.partition(";")[0]
    if not body:
        return ("form", {}) if kind == FORM else ("none", None)
    if kind == FORM:
        return "form", _flat(body.decode())
    if kind == "application/json" or kind.endswith("+json"):
        return "json", json.loads(body)
    if kind.startswith("multipart/"):
        message = BytesParser().parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
        return "multipart", {
            str(part.get_param("name", header="content-disposition")): _text(part)
            for part in message.walk()
            if not part.is_multipart()
        }
    return "text", body.decode(errors="replace")


def _text(part: Any) -> str:
    content: bytes = part.get_payload(decode=True)
    return content.decode(errors="replace")
