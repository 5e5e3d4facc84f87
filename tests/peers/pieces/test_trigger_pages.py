"""Triggers of pieces by their pages alone, in each way in which a trigger hears of news: filled in, deployed, told,
seen to arrive signed, paused, resumed and deleted. Providers are played from their public references."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.fakes.pieces.bench import PieceBench
from tests.peers.pieces import owner
from tests.peers.pieces.conftest import Ours, Registry
from tests.peers.pieces.owner import Owner
from tests.peers.pieces.test_registry_triggers import FACEBOOK, FIELDS, SECRET, SLACK_MESSAGE, Told
from tests.peers.pieces.test_workbench_triggers import HANDSHAKES
from webapp.kit.clock import MINUTE
from webapp.people.users import User

pytestmark = pytest.mark.peer
Contexts = Callable[..., Any]


@pytest.fixture(scope="module")
def our_owner(ours: Ours) -> User:
    """Who has an account of the workbench's."""
    person = owner.create(ours.bench)
    ours.bench.account(person.id, "workbench", {"oauth_access_token": "token-alice", "tenant": "acme"})
    return person


@pytest.fixture(scope="module")
def registry_owner(registry: Registry) -> User:
    """Who has an account of Notion's."""
    person = owner.create(registry.bench)
    registry.bench.account(person.id, "notion_access_token", {"access_token": "secret-alice"})
    return person


def delivered(bench: PieceBench, key: str) -> list[Any]:
    """Send what waits, and hold each against the ``key`` that the page showed, by Standard Webhooks."""
    before = len(bench.receiver.got)
    bodies = bench.deliveries()
    for got in bench.receiver.got[before:]:
        sent_at = datetime.fromtimestamp(int(got.headers["webhook-timestamp"]), UTC)
        signature = Webhook(key).sign(got.headers["webhook-id"], sent_at, got.body.decode())
        assert got.headers["webhook-signature"] == signature
    return bodies


def see(person: Owner, payload: str, *, told: bool = False) -> None:
    """The event that came is shown, what it holds, and that it was delivered; with ``told`` by the open page itself."""
    page, trigger = person.page, person.page.url
    if not told:
        page.reload()
    page.locator("details.log summary").first.click()
    page.get_by_role("region", name=re.compile("^Payload evt_")).get_by_text(payload).first.wait_for()
    page.get_by_role("link", name="Deliveries", exact=True).click()
    page.locator("details.log summary").first.get_by_text("200", exact=True).wait_for()
    page.goto(trigger)


def test_a_polling_trigger_of_notion(registry: Registry, contexts: Contexts, registry_owner: User) -> None:
    bench, name = registry.bench, "New tasks"
    registry.notion.pages.clear()
    person = Owner(bench, contexts, registry_owner)
    person.open("/apps/notion_access_token/triggers/notion_access_token-new-database-item-2")
    person.choose("Database", "Tasks")
    key = person.deploy(name, bench.receiver.url("/tasks"))
    person.page.locator("#strip").get_by_text("Checks").wait_for()
    person.page.locator("#strip").get_by_text("Every 15 minutes").wait_for()
    bench.work()
    registry.notion.add(51, "2999-02-01T00:00:00.000Z")
    bench.clock.advance(16 * MINUTE)
    bench.work()
    assert [body["id"] for body in delivered(bench, key)] == ["page-51"]
    see(person, "page-51", told=True)
    person.switch(name, on=False)
    registry.notion.add(52, "2999-02-02T00:00:00.000Z")
    bench.clock.advance(16 * MINUTE)
    bench.work()
    assert delivered(bench, key) == []
    person.switch(name, on=True)
    person.delete(name)


@pytest.mark.parametrize("part", ["hook-plain", *HANDSHAKES])
def test_a_webhook_that_is_tried_first(ours: Ours, contexts: Contexts, our_owner: User, part: str) -> None:
    bench, hooks = ours.bench, ours.provider.hooks
    person, name = Owner(bench, contexts, our_owner), f"Hook {part}"
    person.open(f"/apps/workbench/triggers/workbench-{part}")
    person.page.get_by_text("Workbench notifies Patchbay as soon as something happens.").wait_for()
    person.fold_out()
    person.field("Only").fill("made")
    key = person.deploy(name, bench.receiver.url(f"/{part}"))
    person.page.locator("#strip").get_by_text("Workbench notifies it at once").wait_for()
    assert person.page.get_by_text("Its own address").count() == 0  # which the piece told its app by itself
    (address,) = hooks.values()
    if part in HANDSHAKES:
        headers, params, body, expected = HANDSHAKES[part]
        answer = bench.hit(address, headers=headers, params=params, json=body)
        assert (answer.status_code, answer.text) == expected
    for kind in ("made", "changed"):
        bench.hit(address, json={"kind": kind, "part": part})
    bench.work()
    assert delivered(bench, key) == [{"kind": "made", "part": part}]
    see(person, part)
    person.switch(name, on=False)
    assert hooks == {}
    person.switch(name, on=True)
    assert list(hooks.values()) == [address]
    person.delete(name)
    assert hooks == {}


@pytest.mark.parametrize("told", [SLACK_MESSAGE, FACEBOOK], ids=lambda told: told.app)
def test_events_of_an_app(registry: Registry, contexts: Contexts, registry_owner: User, told: Told) -> None:
    bench, name = registry.bench, f"Told by {told.app}"
    client = bench.client(told.app, SECRET)
    bench.account(registry_owner.id, told.app, FIELDS.get(told.app, {"oauth_access_token": "t"}), client)
    address = f"{bench.installation.url}/h/app/{told.app}/{client}"

    def send(event: Any) -> None:
        body = json.dumps(event)
        headers = {"content-type": "application/json", **told.signed(address, body, bench.clock())}
        assert bench.hit(address, data=body, headers=headers).status_code == 200
        bench.work()

    person = Owner(bench, contexts, registry_owner)
    person.open(f"/apps/{told.app}/triggers/{told.key}")
    person.page.get_by_text("are set up once for everybody").get_by_role("link", name="App setup").wait_for()
    if told is FACEBOOK:
        person.choose("Page", "Acme")
    key = person.deploy(name, bench.receiver.url(f"/pages/{told.app}"))
    person.page.locator("#strip").get_by_text("notifies it at once").wait_for()
    send(told.event)
    send(told.other)
    member, value = told.emitted
    (body,) = delivered(bench, key)
    assert body[member] == value
    see(person, value)
    person.switch(name, on=False)
    send({**told.event, "event_id": "E3"})
    assert delivered(bench, key) == []
    person.switch(name, on=True)
    person.delete(name)


def test_an_address_to_enter_by_hand_is_shown(registry: Registry, contexts: Contexts, registry_owner: User) -> None:
    bench, name = registry.bench, "Caught"
    person = Owner(bench, contexts, registry_owner)
    person.open("/apps/webhook/triggers/webhook-catch-webhook")
    assert "Live URL:\n(the address that its page shows" in person.page.locator("#fields").inner_text()
    person.page.get_by_role("group", name="Authentication").get_by_label("Header Auth").check()
    person.page.get_by_role("status").get_by_text("Fields updated").wait_for()
    person.field("Header Name").fill("x-shop")
    person.field("Header Value").fill("s3cret")
    key = person.deploy(name, bench.receiver.url("/caught"))
    address = person.page.get_by_role("region", name="Its own address").locator("code").inner_text()
    assert bench.hit(address, json={"n": 0}).status_code == 200  # it takes what comes and looks at it later
    assert bench.hit(address, json={"n": 1}, headers={"x-shop": "s3cret"}).status_code == 200
    bench.work()
    assert [body["body"] for body in delivered(bench, key)] == [{"n": 1}]
    see(person, '"n": 1')
    person.delete(name)
    assert bench.hit(address, json={"n": 2}).status_code == 404
