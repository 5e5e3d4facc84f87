"""Runs the actions and triggers of one app through the real runner, against a fake of its provider.

The account is made from the app's own ``app.toml``; only its base URL leads to loopback instead. The fake answers the
paths it is told of, and a request without the account's credential and the app's headers finds nothing there.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from tests.service.catalog.components.action_harness import component_file
from tests.service.catalog.components.trigger_harness import TriggerHarness
from webapp.service.catalog.app import App
from webapp.service.components.calls import AccountGrant, Call, Reply
from webapp.service.components.executor import Executor
from webapp.service.outbound.placements import apply
from webapp.service.outbound.templates import fill_url

FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Asked:
    """One request as the fake got it; ``path`` follows the base URL, and is percent-encoded as it came."""

    what: str
    query: dict[str, str]
    queries: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Its JSON body."""
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        """The fields of its form."""
        assert self.headers["content-type"] == FORM
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True, strict_parsing=bool(self.body)))


@dataclass(frozen=True)
class FakeAnswer:
    """An answer with a status of its own."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


Answer = Any | Callable[[Asked], Any]


@dataclass
class Provider:
    """The fake: what it answers, by ``"GET /path"``, and what it was asked."""

    base_path: str
    headers: Mapping[str, str]
    params: Mapping[str, str]
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def answer(self, asked: Asked) -> FakeAnswer:
        """What to send back; as the provider would, to who is allowed to ask."""
        if any(asked.headers.get(name.lower()) != value for name, value in self.headers.items()):
            return FakeAnswer(401, {"error": "The credential or a header of the app is missing."})
        if any(asked.query.get(name) != value for name, value in self.params.items()):
            return FakeAnswer(401, {"error": "The credential is missing in the query."})
        self.asked.append(asked)
        found = self.answers.get(asked.what, FakeAnswer(404, {"error": f"Nothing is at {asked.what}."}))
        said = found(asked) if callable(found) else found
        return said if isinstance(said, FakeAnswer) else FakeAnswer(200, said)

    @property
    def last(self) -> Asked:
        """The last request."""
        return self.asked[-1]


@dataclass
class AppHarness:
    """Calls the actions of one app for one account."""

    app: App
    runner: Executor
    grant: AccountGrant
    provider: Provider
    host: str

    def on(self, what: str, answer: Answer) -> None:
        """Let the fake answer ``what``, such as ``GET /v1/balance``."""
        self.provider.answers[what] = answer

    @property
    def last(self) -> Asked:
        """The last request that the fake got."""
        return self.provider.last

    def run(self, action: str, labels: Mapping[str, str] | None = None, /, **props: Any) -> Reply:
        """Run an action; it must succeed and sum up what it did."""
        reply = self.call("run", action, props, labels=labels or {})
        assert reply.error is None, reply.error
        assert str(reply.exports["$summary"]).strip()
        return reply

    def refuses(self, action: str, /, **props: Any) -> str:
        """Run an action that must fail with one sentence; the sentence."""
        reply = self.call("run", action, props)
        assert reply.error is not None
        assert reply.error.kind in ("exception", "http")
        assert reply.error.name in ("ComponentError", "HttpError"), reply.error
        return reply.error.message

    def options(
        self, action: str, prop: str, *, page: int = 0, query: str = "", previous: Any = None, **props: Any
    ) -> dict[str, Any]:
        """A page of the options of a prop: ``{label: value}`` or a list of texts as ``found``, and ``context``."""
        reply = self.call("options", action, props, prop=prop, page=page, query=query, previous=previous or {})
        assert reply.error is None, reply.error
        listed, texts = reply.value["options"], reply.value["string_options"]
        found = texts if texts is not None else {one["label"]: one["value"] for one in listed}
        return {"found": found, "context": reply.value["context"]}

    def reload(self, action: str, **props: Any) -> list[dict[str, Any]]:
        """The props that follow from ``props``, without the app prop."""
        reply = self.call("reload", action, props)
        assert reply.error is None, reply.error
        return [one for one in reply.value if one["type"] != "app"]

    def trigger(self, trigger: str, **props: Any) -> TriggerHarness:
        """A trigger, which is not deployed yet."""
        path = component_file(self.app.spec.slug, "triggers", trigger)
        return TriggerHarness(self.runner, path, props, {self.app.spec.slug: self.grant}, (self.host,))

    def call(self, method: Any, action: str, props: Mapping[str, Any], **more: Any) -> Reply:
        """Any call."""
        path = component_file(self.app.spec.slug, "actions", action)
        accounts = {self.app.spec.slug: self.grant}
        return self.runner.call(
            Call(str(path), method=method, props=props, accounts=accounts, allow_hosts=(self.host,), **more)
        )


@contextmanager
def open_harness(app: App, runner: Executor, values: Mapping[str, str]) -> Iterator[AppHarness]:
    """A harness for an account of ``app`` with ``values``."""
    whole = urlsplit(fill_url(app.spec.base_url or "", values))
    applied = apply(app.placements, values)
    provider = Provider(whole.path, {**app.spec.headers, **applied.headers}, applied.params)
    with serving(provider) as host:
        grant = AccountGrant(
            values=values,
            base_url=f"http://{host}{whole.path}",
            headers=app.spec.headers,
            placements=app.placements,
            allowed_hosts=(host,),
        )
        yield AppHarness(app, runner, grant, provider, host)


@contextmanager
def serving(provider: Provider) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": provider}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        several = parse_qs(query, keep_blank_values=True)
        asked = Asked(
            f"{self.command} {path.removeprefix(self.provider.base_path)}",
            {name: values[0] for name, values in several.items()},
            several,
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(int(self.headers.get("Content-Length", 0))),
        )
        said = self.provider.answer(asked)
        raw = (
            said.body if isinstance(said.body, bytes) else b"" if said.status == 204 else json.dumps(said.body).encode()
        )
        self.send_response(said.status)
        for name, value in {"Content-Type": "application/json", **said.headers}.items():
            self.send_header(name, value)
        if said.status != 204:
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        """Stay silent."""
