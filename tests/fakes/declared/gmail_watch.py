"""Gmail as far as watching a mailbox goes, and the Pub/Sub that pushes to a client's URL, written from
https://developers.google.com/workspace/gmail/api/guides/push and
https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions.

The triggers are the real ones, run in this process with a context that leads to the fake.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.fakes.declared.provider import Answer, Heard
from tests.fakes.declared.push import PushProvider, Stage
from webapp.kit.clock import DAY, SECOND
from webapp.service.components import loader
from webapp.service.components.calls import Call, Emitted, ErrorInfo, HttpAnswer, Reply
from webapp.service.components.errors import ComponentError, HttpError
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.components import component_calls
from webapp.service.domain.triggers import app_events
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.service.outbound import id_tokens

KEY = "gmail-new-email-received"
TOPIC, OTHER = "projects/acme-mail/topics/gmail", "projects/acme-mail/topics/other"
SENDER = "pushes@acme-mail.iam.gserviceaccount.com"
LASTS = 7 * DAY
FIRST, SECOND_KEY = (RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"}) for kid in ("k1", "k2"))


@dataclass
class Gmail(PushProvider):
    """Mailboxes by person: the ids of their messages. ``watches`` are the topics and ends of watches; ``now`` is the
    time there, and ``keys`` are what Google signs with."""

    mailboxes: dict[str, list[str]] = field(default_factory=dict)
    watches: dict[str, tuple[str, int]] = field(default_factory=dict)
    keys: list[RSAKey] = field(default_factory=lambda: [FIRST])
    now: int = 0

    def answer(self, heard: Heard) -> Answer:
        if heard.place.endswith("/oauth2/v3/certs"):
            self.asked.append("certs")
            published = {"keys": [key.as_dict(private=False) for key in self.keys]}
            return Answer(200, published) if self.keys else Answer(503)
        headers = {name.lower(): value for name, value in heard.headers.items()}
        person = headers["authorization"].removeprefix("Bearer token-")
        return Answer(200, {"sub": person, "email": address_of(person)})

    def ask(self, person: str, method: str, path: str, sent: Mapping[str, Any]) -> Any:
        """The answer of the API. Raises :class:`HttpError`."""
        messages = self.mailboxes.setdefault(person, [])
        if (method, path) == ("GET", "/users/me/profile"):
            return {"emailAddress": address_of(person), "historyId": str(len(messages))}
        if (method, path) == ("GET", "/users/me/messages"):
            return {"messages": [{"id": id} for id in messages[::-1]]}
        if (method, path) == ("GET", "/users/me/history"):
            new = [{"messagesAdded": [{"message": {"id": id}}]} for id in messages[int(sent["startHistoryId"]) :]]
            return {"history": new, "historyId": str(len(messages))}
        if path.startswith("/users/me/messages/"):
            subject = {"name": "Subject", "value": path.rpartition("/")[2]}
            return {"id": subject["value"], "payload": {"headers": [subject]}}
        self.asked.append(f"{person} {path}")
        if (method, path) == ("POST", "/users/me/stop"):
            self.watches.pop(person, None)
            return None
        assert (method, path) == ("POST", "/users/me/watch")
        assert set(sent) == {"topicName"}
        if self.watches.get(person, (sent["topicName"],))[0] != sent["topicName"]:
            raise HttpError("Only one user push notification client allowed per developer", 400, b"")
        self.watches[person] = sent["topicName"], self.now + LASTS
        return {"historyId": str(len(messages)), "expiration": str(self.now + LASTS)}


def address_of(person: str) -> str:
    """The address of a person's mailbox."""
    return f"{person}@example.com"


class GmailStage(Stage):
    """People with mailboxes, and accounts of one client."""

    def token(self, key: Any = FIRST, algorithm: str = "RS256", **changes: Any) -> str:
        """What Pub/Sub sends to the URL of the client."""
        at = self.clock() // SECOND
        claims = {
            "iss": "https://accounts.google.com", "aud": self.url, "sub": "1", "iat": at, "exp": at + 3600,
            "email": SENDER, "email_verified": True,
        }  # fmt: skip
        kept = {name: value for name, value in (claims | changes).items() if value is not None}
        return jwt.encode({"alg": algorithm, "kid": key.kid}, kept, key, algorithms=[algorithm])

    @property
    def url(self) -> str:
        """The URL of the client."""
        return f"{self.service.settings.public_url}/h/app/gmail/{self.client.id}"

    def tell(self, person: str, authorization: str | None = None, body: bytes | None = None) -> HttpAnswer:
        """Push that the mailbox of a person changed."""
        data = json.dumps({"emailAddress": address_of(person), "historyId": 7}).encode()
        message = {"data": base64.urlsafe_b64encode(data).decode(), "messageId": "1"}
        raw = json.dumps({"message": message, "subscription": "projects/acme-mail/subscriptions/patchbay"}).encode()
        sent = f"Bearer {self.token()}" if authorization is None else authorization
        headers = (("Authorization", sent),)
        request = InboundRequest("POST", "/", self.url, (), headers, body or raw, "192.0.2.1", self.clock())
        return app_events.receive(self.service, "gmail", self.client.id, request)


class _Context(SimpleNamespace):
    """What a component of Gmail uses of its context."""

    def __init__(self, gmail: Gmail, person: str, call: Call) -> None:
        self.state: dict[str, Any] = {}
        self.emitted: list[Emitted] = []
        self.ends_at: int | None = None
        super().__init__(
            props=SimpleNamespace(**({"label": None} | dict(call.props))), endpoint=call.endpoint, event=call.event,
            db=SimpleNamespace(
                get=lambda name, default=None: {**call.state, **self.state}.get(name, default),
                set=self.state.__setitem__,
            ),
            http=SimpleNamespace(
                get=lambda path, params=None: self._answer(gmail.ask(person, "GET", path, params or {})),
                post=lambda path, json=None: self._answer(gmail.ask(person, "POST", path, json or {})),
            ),
        )  # fmt: skip

    def _answer(self, body: Any) -> Any:
        return SimpleNamespace(json=lambda: body)

    def emit(self, event: Any, *, id: str, summary: str) -> None:
        """Emit an event."""
        self.emitted.append(Emitted(event, id, summary, 0))

    def subscribed_until(self, ends_at: int) -> None:
        """Say when the subscription ends."""
        self.ends_at = ends_at


@contextmanager
def in_process(gmail: Gmail) -> Iterator[None]:
    """Let the components of Gmail run here."""

    def call(service: Any, call: Call, chosen: Mapping[str, Account], app: str | None) -> Reply:
        person = next(iter(chosen.values())).external_id
        context = _Context(gmail, person, call)
        try:
            value = getattr(loader.load(Path(call.path))(), call.method)(context)
        except ComponentError as error:
            return Reply(None, error=ErrorInfo("exception", type(error).__name__, str(error)))
        return Reply(value, events=tuple(context.emitted), state=context.state, ends_at=context.ends_at)

    with patch.object(component_calls, "call", call), patch.dict(id_tokens.KEYS, clear=True):
        yield
