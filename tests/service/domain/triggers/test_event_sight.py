"""Who may see an event: as it says itself, or as Slack says when the account asks."""

import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.slack_events import Stage, told
from tests.fakes.declared.told_events import (
    GitHubApp,
    HubSpot,
    Intercom,
    Linear,
    Notion,
    Shopify,
    Square,
    Teller,
    Todoist,
    ToldStage,
)
from tests.fakes.triggers import summaries
from webapp.kit.clock import SECOND
from webapp.service.domain.accounts import lifecycle
from webapp.service.domain.triggers import inbox

TELLERS = (GitHubApp, HubSpot, Intercom, Linear, Notion, Shopify, Square, Todoist)


def test_what_cannot_be_asked_now_is_asked_again(stage: Stage) -> None:
    alice = stage.deploy("alice")
    stage.send(told("later", channel="G1", kind="group"))
    stage.slack.broken = True
    assert stage.texts(alice) == []
    stage.slack.broken = False
    stage.service.clock.advance(10 * SECOND)  # type: ignore[attr-defined]
    assert stage.texts(alice) == ["later"]


def test_what_an_account_may_not_open_its_trigger_never_gets(stage: Stage) -> None:
    bob, eve = stage.deploy("bob"), stage.deploy("eve")
    stage.send(told("hidden", channel="G1", kind="group"))
    stage.send(told("shared", team="T2") | {"is_ext_shared_channel": True})
    assert (stage.texts(bob), stage.texts(eve)) == ([], [])
    assert stage.slack.asked == ["bob G1", "eve C1"]


def test_what_waits_for_an_account_that_is_gone_is_struck_out(stage: Stage) -> None:
    account = stage.connect("alice")
    alice = stage.deploy("alice", account)
    stage.send(told("too late"))
    with stage.service.store.write() as tx:
        lifecycle.remove(tx, [account], stage.service.clock())
    assert stage.texts(alice) == []
    assert stage.service.store.all("SELECT id FROM trigger_inbox") == []


@pytest.mark.parametrize("kind", TELLERS, ids=lambda kind: kind.slug)
def test_only_an_account_that_may_see_the_thing_hears_of_it_once(slack_bench: Bench, kind: type[Teller]) -> None:
    events = ToldStage(slack_bench, kind)
    alice, bob, eve = (events.deploy(name) for name in ("alice", "bob", "eve"))
    assert events.send("acme", secret="guessed") == 401
    if kind.timed:
        assert events.send("acme", late_s=400) == 401
    assert inbox.claim(events.service) is None
    assert (events.send("acme"), events.send("acme"), events.send("evil")) == (200, 200, 200)
    events.work()
    assert events.send("acme") == 200
    events.work()
    assert [summaries(events.service, trigger) for trigger in (alice, bob, eve)] == [[kind.emits], [], []]
    assert sorted(events.teller.asked) == list(kind.asks)


def test_what_is_said_to_be_of_another_shop_is_not_shown_there(slack_bench: Bench) -> None:
    events = ToldStage(slack_bench, Shopify)
    alice, eve = events.deploy("alice"), events.deploy("eve")
    assert events.send("acme", altered={"X-Shopify-Shop-Domain": "evil.myshopify.com"}) == 200
    events.work()
    assert [summaries(events.service, trigger) for trigger in (alice, eve)] == [[], []]
