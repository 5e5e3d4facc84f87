"""Which triggers hear the events of a client: those that are on, once its owner has entered the secret.

Who may see an event: as it says itself, or as Slack says when the account asks.

What a piece says that it listens to.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.slack_events import SECRET, Stage, told
from tests.fakes.declared.told_events import SECRET as EVENTS_SECRET
from tests.fakes.declared.told_events import (
    GitHubApp,
    HubSpot,
    HubSpotContacts,
    Intercom,
    Linear,
    Notion,
    Shopify,
    Square,
    Teller,
    Todoist,
    ToldStage,
)
from tests.fakes.pieces.triggers import PieceStage
from tests.fakes.triggers import poll_due, summaries
from webapp.errors import Invalid
from webapp.kit.clock import DAY, MINUTE, SECOND, iso
from webapp.service.domain.accounts import account_state, events_secrets, oauth_apps
from webapp.service.domain.triggers import calls, deployed_triggers, deployments, event_listeners, inbox
from webapp.service.domain.triggers.event_listeners import PieceListener

TELLERS = (GitHubApp, HubSpot, Intercom, Linear, Notion, Shopify, Square, Todoist)


def test_paused_and_deleted_triggers_receive_nothing(stage: Stage) -> None:
    account = stage.connect("alice")
    alice = stage.deploy("alice", account)
    deployments.update(stage.service, alice, deployments.Change(active=False))
    stage.send(told("while paused"))
    deployments.update(stage.service, alice, deployments.Change(active=True))
    stage.send(told("after"))
    assert stage.texts(alice) == ["after"]
    deployments.delete(stage.service, alice)
    assert stage.send(told("deleted")) == 200
    assert inbox.claim(stage.service) is None


def test_what_comes_while_a_trigger_is_changed_is_not_lost(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    alice, listen = stage.deploy("alice"), event_listeners.listen

    def told_before(*args: Any) -> None:
        stage.send(told("meanwhile"))
        assert stage.texts(alice) == ["meanwhile"]
        listen(*args)

    monkeypatch.setattr(event_listeners, "listen", told_before)
    deployments.update(stage.service, alice, deployments.Change(configured={"channels": ["C1"]}))
    assert stage.texts(alice) == ["meanwhile"]


def test_without_the_secret_of_the_client_nothing_is_started(stage: Stage) -> None:
    stage.client = oauth_apps.add(
        stage.service, app="slack", client_id="n", client_secret="s", project_id=stage.scene.project_id
    )
    with pytest.raises(Invalid, match="The events of Slack are not set up yet"):
        stage.deploy("alice")
    client = oauth_apps.update(stage.service, stage.client, events_secret=SECRET)
    assert events_secrets.of(stage.service, client) == SECRET
    assert b"8f742231" not in (client.events_sealed or b"8f742231")
    assert stage.deploy("alice").active


def test_a_trigger_from_before_keeps_its_own_address_and_its_secret(stage: Stage) -> None:
    before, now = (stage.service.catalog.component("slack-new-message", version) for version in ("0.0.1", None))
    assert before is not None
    assert now is not None
    types, new_types = ({prop["type"] for prop in component.props} for component in (before, now))
    assert ("$.interface.http" in types, "$.interface.apphook" in types) == (True, False)
    assert ("$.interface.http" in new_types, "$.interface.apphook" in new_types) == (False, True)
    assert "signing_secret" not in str(now.props)


def test_an_account_that_is_connected_with_another_client_hears_the_events_of_that(stage: Stage) -> None:
    account, first = stage.connect("alice"), stage.client
    alice = stage.deploy("alice", account)
    stage.client = oauth_apps.add(
        stage.service, app="slack", client_id="next", client_secret="s", project_id=stage.scene.project_id,
        events_secret=SECRET,
    )  # fmt: skip
    stage.connect("alice", account.id)
    oauth_apps.remove(stage.service, first)
    stage.send(told("by the other"))
    assert stage.texts(alice) == ["by the other"]


def test_where_an_account_is_several_that_is_asked_again(slack_bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    github = ToldStage(slack_bench, GitHubApp)
    service, alice = github.service, github.deploy("alice")
    event_listeners.renew(service)  # those of other tests
    monkeypatch.setattr(GitHubApp, "installations", {"alice": [3], "bob": []})
    with pytest.raises(Invalid, match="is not installed anywhere that this account can see"):
        github.deploy("bob")
    assert event_listeners.renew(service) == 0
    service.clock.advance(event_listeners.ASKED_EVERY + 1)  # type: ignore[attr-defined]
    github.teller.broken = True
    assert event_listeners.renew(service) >= 1  # what was known stands
    github.send("acme")
    github.teller.broken = False
    service.clock.advance(event_listeners.ASKED_EVERY + 1)  # type: ignore[attr-defined]
    event_listeners.renew(service)
    github.send("later")
    github.work()
    assert summaries(service, alice) == ["#1 The door sticks"] * 2


def test_a_listener_that_is_replaced_during_a_renewal_is_kept(
    slack_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    github = ToldStage(slack_bench, GitHubApp)
    service, alice, answer = github.service, github.deploy("alice"), event_listeners._answer
    event_listeners.renew(service)  # those of other tests
    service.clock.advance(event_listeners.ASKED_EVERY + 1)  # type: ignore[attr-defined]

    def set_anew(*args: Any) -> Any:
        before = answer(*args)
        monkeypatch.setattr(event_listeners, "_answer", answer)
        monkeypatch.setattr(GitHubApp, "installations", {"alice": [5]})
        event_listeners.listen(service, alice, deployed_triggers.configured(service, alice))
        return before

    monkeypatch.setattr(event_listeners, "_answer", set_anew)
    event_listeners.renew(service)
    keys = "SELECT account_key FROM event_listeners WHERE trigger_id = :id"
    assert service.store.tuples(keys, {"id": alice.id}) == [("5",)]
    service.clock.advance(-DAY)  # type: ignore[attr-defined]
    assert event_listeners.renew(service) >= 1, "a clock that was set back puts it off"


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


def test_requests_for_a_disconnected_account_are_deleted(stage: Stage) -> None:
    account = stage.connect("alice")
    alice = stage.deploy("alice", account)
    stage.send(told("too late"))
    with stage.service.store.write() as tx:
        account_state.remove(tx, [account], stage.service.clock())
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


@pytest.mark.parametrize(
    "value", [None, [], {"listeners": None}, {"listeners": [{"events": ["a"], "identifier": None}]}]
)
def test_whoever_says_nothing_listens_to_nobody(value: Any) -> None:
    told = event_listeners.listeners_of(value)
    with pytest.raises(Invalid, match="which account these events belong to"):
        event_listeners.listener_names_by_identifier(told)


def test_names_are_those_of_each(piece_stage: PieceStage) -> None:
    told = [PieceListener(("a", "b"), "1"), PieceListener(("b",), "2"), PieceListener(("c",), "1")]
    assert event_listeners.listener_names(told) == ("a", "b", "c")
    assert event_listeners.listener_names_by_identifier(told) == {"1": ("a", "b", "c"), "2": ("b",)}


def test_a_trigger_that_hears_nobody_is_not_deployed(piece_stage: PieceStage) -> None:
    with pytest.raises(Invalid, match="which account these events belong to"):
        piece_stage.deploy("mallory")
    assert [call.method for call in piece_stage.played.calls] == ["activate", "deactivate"]


class Contacts(ToldStage):
    """People whose triggers poll the contacts of HubSpot, and look at once when it tells of an event."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench, HubSpotContacts)

    def change(self, id: str) -> None:
        """A contact changes."""
        assert isinstance(self.teller, HubSpotContacts)
        self.teller.contacts[id] = iso(self.service.clock())
        self.teller.occurred_at = self.service.clock()

    def after(self, ms: int) -> None:
        """Let time pass, and poll what is due."""
        self.service.clock.advance(ms)  # type: ignore[attr-defined]
        poll_due(self.service)


@pytest.fixture
def contacts(slack_bench: Bench) -> Iterator[Contacts]:
    stage = Contacts(slack_bench)
    yield stage
    for trigger in deployed_triggers.of_project(stage.service.store, stage.scene.project_id):
        deployments.delete(stage.service, trigger, ignore_hook_errors=True)


def test_an_event_lets_a_trigger_poll_at_once_and_one_of_an_earlier_version_polls_until_it_is_moved(
    contacts: Contacts,
) -> None:
    stage, service = contacts, contacts.service
    old, eve = stage.deploy("alice", "0.0.1"), stage.deploy("eve")
    stage.after(0)
    stage.change("ada")
    stage.after(MINUTE)
    assert stage.send("acme") == 200
    stage.after(10 * SECOND)
    assert summaries(service, old) == [], "what was deployed before polls at its times"
    stage.after(5 * MINUTE)
    assert summaries(service, old) == ["ada@x.example"]
    stage.after(MINUTE)
    stage.change("bob")
    moved = deployments.update(service, old, deployments.Change(version="0.0.2"))
    assert moved.polls_at_events
    stage.teller.asked.clear()
    assert (stage.send("acme", secret="guessed"), stage.send("acme")) == (401, 200)
    stage.after(9 * SECOND)
    assert summaries(service, old) == ["ada@x.example"]
    stage.after(SECOND)
    assert (summaries(service, old), stage.teller.asked) == (["ada@x.example", "bob@x.example"], ["alice"])
    assert inbox.claim(service) is None, "nothing of the event is stored"
    deployments.update(service, moved, deployments.Change(active=False))
    stage.change("cy")
    assert stage.send("acme") == 200
    stage.after(MINUTE)
    assert stage.teller.asked == ["alice"], "nobody polls who is paused, or whom the event is not about"
    stage.after(5 * MINUTE)
    assert summaries(service, eve)[-1] == "cy@x.example"


def test_a_trigger_that_was_notified_too_early_polls_once_more_after_a_minute(contacts: Contacts) -> None:
    stage = contacts
    alice = stage.deploy("alice")
    stage.after(0)
    stage.after(MINUTE)
    assert stage.send("acme") == 200
    stage.after(10 * SECOND)
    stage.change("ada")
    stage.after(MINUTE)
    assert summaries(stage.service, alice) == ["ada@x.example"]
    asked = len(stage.teller.asked)
    stage.after(MINUTE)
    assert len(stage.teller.asked) == asked


def test_a_poll_at_its_time_that_finds_nothing_is_followed_by_the_next_at_its_time(
    contacts: Contacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, call = contacts, calls.call

    def slowly(*args: Any, **kwargs: Any) -> Any:
        stage.service.clock.advance(1_500)  # type: ignore[attr-defined]
        return call(*args, **kwargs)

    monkeypatch.setattr(calls, "call", slowly)
    stage.deploy("alice")
    stage.after(0)
    asked = len(stage.teller.asked)
    for _ in range(30):
        stage.after(30 * SECOND)
    assert len(stage.teller.asked) == asked + 3, "each five minutes"


def test_whose_client_gets_no_events_yet_polls_and_looks_at_once_when_it_does(contacts: Contacts) -> None:
    stage = contacts
    stage.client = oauth_apps.add(
        stage.service, app="hubspot", client_id="n", client_secret="s", project_id=stage.scene.project_id
    )
    alice = stage.deploy("alice")
    stage.after(0)
    stage.change("ada")
    stage.after(5 * MINUTE)
    stage.client = oauth_apps.update(stage.service, stage.client, events_secret=EVENTS_SECRET)
    stage.change("bob")
    assert stage.send("acme") == 200
    stage.after(15 * SECOND)
    assert summaries(stage.service, alice) == ["ada@x.example", "bob@x.example"]
