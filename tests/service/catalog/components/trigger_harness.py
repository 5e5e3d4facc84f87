"""A shipped trigger as it really runs: through the runner, remembering what it keeps from one call to the next."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from webapp.service.components.calls import AccountGrant, Call, Emitted, Reply

ENDPOINT = "https://patchbay.example/h/k1"


class Caller(Protocol):
    """Whatever makes calls."""

    def call(self, call: Call) -> Reply: ...


@dataclass
class TriggerHarness:
    """One deployed trigger. ``state`` is what it remembers."""

    runner: Caller
    path: Path
    props: dict[str, Any]
    accounts: Mapping[str, AccountGrant] = field(default_factory=dict)
    allow_hosts: tuple[str, ...] = ()
    endpoint: str = ENDPOINT
    state: dict[str, Any] = field(default_factory=dict)

    def deploy(self) -> list[Emitted]:
        """Deploy it; the examples that it emits."""
        return self._done(self.call("deploy"))

    def activate(self) -> Reply:
        """Switch it on; it must succeed."""
        reply = self.call("activate")
        assert reply.error is None, reply.error
        return reply

    def deactivate(self) -> None:
        """Switch it off; it must succeed."""
        self._done(self.call("deactivate"))

    def tick(self) -> list[Emitted]:
        """Let its time come; what it emits."""
        return self._done(self.call("run", {"timestamp": 0, "interval_seconds": 900}))

    def receive(self, body: Any, headers: Mapping[str, str], *, at: int | None = None) -> Reply:
        """Let a request come, at epoch milliseconds or now; it must not fail. A ``body`` that is text is sent as is."""
        raw = body if isinstance(body, str) else json.dumps(body)
        reply = self.call("run", event_of(raw, headers, self.endpoint, at=at))
        assert reply.error is None, reply.error
        return reply

    def refuses(self, method: Any, event: Any = None) -> str:
        """Make a call that must fail with one sentence; the sentence."""
        reply = self.call(method, event)
        assert reply.error is not None
        assert reply.error.name in ("ComponentError", "HttpError"), reply.error
        return reply.error.message

    def call(self, method: Any, event: Any = None) -> Reply:
        """Any call. What a failed one set is forgotten."""
        call = Call(
            str(self.path), method=method, props=self.props, accounts=self.accounts, state=self.state, event=event,
            endpoint=self.endpoint, allow_hosts=self.allow_hosts,
        )  # fmt: skip
        reply = self.runner.call(call)
        if reply.ok:
            self.state |= reply.state
        return reply

    def _done(self, reply: Reply) -> list[Emitted]:
        assert reply.error is None, reply.error
        return list(reply.events)


def event_of(raw: str, headers: Mapping[str, str], endpoint: str, *, at: int | None = None) -> dict[str, Any]:
    """A request with the JSON ``raw``, as it sets off a trigger."""
    return {
        "method": "POST",
        "path": "/h/k1",
        "query": {},
        "headers": {name.lower(): value for name, value in headers.items()},
        "body": json.loads(raw),
        "bodyRaw": raw,
        "client_ip": "192.0.2.1",
        "url": endpoint,
    } | ({} if at is None else {"timestamp": at})


def logged(reply: Reply) -> str:
    """What a call logged, as one text."""
    return "\n".join(one.msg or "" for one in reply.observations)
