"""Triggers of pieces of the npm registry as they are: deployed, told by their provider in each of its ways, delivered
signed, and deleted."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.peers.pieces.conftest import Registry
from webapp.kit.clock import MINUTE, SECOND
from webapp.service.domain.triggers import deployed_triggers

pytestmark = pytest.mark.peer
SECRET = "canary-secret-of-the-client"


def _hmac(text: str, by: Any = hashlib.sha256, secret: str = SECRET) -> bytes:
    return hmac.new(secret.encode(), text.encode(), by).digest()


def _slack(address: str, body: str, at: int) -> dict[str, str]:
    sent = str(at // SECOND)
    return {"x-slack-request-timestamp": sent, "x-slack-signature": f"v0={_hmac(f'v0:{sent}:{body}').hex()}"}


def _intercom(address: str, body: str, at: int) -> dict[str, str]:
    return {"x-hub-signature": f"sha1={_hmac(body, hashlib.sha1).hex()}"}


def _square(address: str, body: str, at: int) -> dict[str, str]:
    return {"x-square-hmacsha256-signature": base64.b64encode(_hmac(address + body)).decode()}


def _facebook(address: str, body: str, at: int) -> dict[str, str]:
    return {"x-hub-signature-256": f"sha256={_hmac(body).hex()}"}


@dataclass(frozen=True)
class Told:
    """How a provider tells an event to the address of a client: of ``app``, for the trigger ``key`` with these values;
    ``emitted`` is a member of what it emits. ``other`` is an event that the trigger does not want."""

    app: str
    key: str
    values: Mapping[str, Any]
    signed: Callable[[str, str, int], dict[str, str]]
    event: Mapping[str, Any]
    other: Mapping[str, Any]
    emitted: tuple[str, Any]


MESSAGE = {"type": "message", "channel": "C1", "channel_type": "channel", "user": "U9", "text": "hi", "ts": "1.2"}
SLACK = {"type": "event_callback", "team_id": "T1", "event": MESSAGE, "is_ext_shared_channel": False}
INTERCOM = {"type": "notification_event", "app_id": "ws1", "data": {"item": {"type": "conversation", "id": "7"}}}
ORDER = {"type": "order", "id": "o1", "object": {"order_created": {"order_id": "o1"}}}
LEAD = {"page_id": "P1", "leadgen_id": "L1", "form_id": "F1"}
SLACK_MESSAGE = Told(
    "slack", "slack-new-message-2", {"ignoreBots": False}, _slack, {**SLACK, "event_id": "E1"},
    {**SLACK, "event_id": "E2", "event": {**MESSAGE, "type": "reaction_added"}}, ("text", "hi"),
)  # fmt: skip
FACEBOOK = Told(
    "facebook_leads", "facebook_leads-new-lead", {"page": 'json:{"id":"P1","accessToken":"page-token"}'}, _facebook,
    {"object": "page", "entry": [{"id": "P1", "changes": [{"field": "leadgen", "value": LEAD}]}]},
    {"object": "page", "entry": [{"id": "P2", "changes": [{"value": {**LEAD, "page_id": "P2"}}]}]},
    ("lead_id", "L1"),
)  # fmt: skip
APP_EVENTS = [
    SLACK_MESSAGE,
    FACEBOOK,
    Told(
        "intercom", "intercom-contact-replied", {}, _intercom,
        {**INTERCOM, "id": "n1", "topic": "conversation.user.replied"},
        {**INTERCOM, "id": "n2", "topic": "conversation.admin.closed"}, ("id", "7"),
    ),
    Told(
        "square", "square-new-order", {}, _square,
        {"merchant_id": "M1", "type": "order.created", "event_id": "e1", "data": ORDER},
        {"merchant_id": "M1", "type": "order.updated", "event_id": "e2", "data": ORDER}, ("type", "order.created"),
    ),
]  # fmt: skip


FIELDS = {
    "slack": {"oauth_access_token": "xoxb-alice", "team_id": "T1"},
    "intercom": {"oauth_access_token": "dG9rOmFsaWNl"},
}


@pytest.mark.parametrize("told", APP_EVENTS, ids=lambda told: told.app)
def test_events_of_an_app_come_to_the_address_of_its_client(registry: Registry, told: Told) -> None:
    bench = registry.bench
    client = bench.client(told.app, SECRET)
    address = f"{bench.installation.url}/h/app/{told.app}/{client}"
    values = {told.app: bench.account("alice", told.app, FIELDS.get(told.app, {"oauth_access_token": "t"}), client)}
    url = bench.receiver.url(f"/{told.app}")
    trigger = bench.deploy(told.key, "alice", {**values, **told.values}, webhook_url=url)
    for event, status in ((told.event, 200), (told.event, 200), (told.other, 200)):
        body = json.dumps(event)
        headers = {"content-type": "application/json", **told.signed(address, body, bench.clock())}
        assert bench.hit(address, data=body, headers=headers).status_code == status
    forged = {name: f"{value}0" for name, value in told.signed(address, "{}", bench.clock()).items()}
    headers = {"content-type": "application/json", **forged}
    assert bench.hit(address, data=json.dumps(told.event), headers=headers).status_code == 401
    bench.work()
    (delivered,) = bench.deliveries()
    member, value = told.emitted
    assert delivered[member] == value, delivered
    assert bench.delete(trigger, "alice") == 204


def test_polling_tells_each_new_page_once(registry: Registry) -> None:
    bench = registry.bench
    registry.notion.pages.clear()
    account = bench.account("alice", "notion_access_token", {"access_token": "secret-alice"})
    values = {"notion": account, "database_id": "db-1"}
    url = bench.receiver.url("/notion")
    trigger = bench.deploy("notion_access_token-new-database-item-2", "alice", values, webhook_url=url)
    bench.work()
    assert bench.deliveries() == []
    for number in (1, 2):
        registry.notion.add(number, f"2999-01-0{number}T00:00:00.000Z")
    bench.clock.advance(16 * MINUTE)
    bench.work()
    assert sorted(delivery["id"] for delivery in bench.deliveries()) == ["page-1", "page-2"]
    bench.clock.advance(16 * MINUTE)
    bench.work()
    assert bench.deliveries() == []
    assert bench.delete(trigger, "alice") == 204


def test_a_webhook_of_its_own_takes_what_comes(registry: Registry) -> None:
    bench = registry.bench
    url = bench.receiver.url("/webhook")
    reloaded = bench.ask("triggers/props", "webhook-catch-webhook", "alice", {"authType": "none"})["dynamicProps"]
    trigger = bench.deploy(
        "webhook-catch-webhook", "alice", {"authType": "none"}, webhook_url=url, dynamic_props_id=reloaded["id"]
    )
    address = deployed_triggers.endpoint_url(bench.installation.service, trigger)
    assert bench.hit(str(address), json={"n": 1}, params={"a": "b"}).status_code == 200
    bench.work()
    (delivered,) = bench.deliveries()
    assert (delivered["body"], delivered["queryParams"]) == ({"n": 1}, {"a": "b"})
