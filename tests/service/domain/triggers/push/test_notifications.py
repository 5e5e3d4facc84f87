"""Microsoft tells of mail: each person's trigger looks at once and gets their own; what is forged reaches nobody, and
what comes again brings nothing again."""

import pytest

from tests.fakes.declared.google_push import GoogleCalendar
from tests.fakes.declared.graph import Graph
from tests.fakes.declared.push import Stage
from tests.fakes.triggers import row
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.service.components.declared import definition
from webapp.service.components.errors import LoadError
from webapp.service.domain.triggers import deployed_triggers, firing, lifecycle


def test_two_users_on_one_client_each_get_their_own_at_once(stage: Stage, graph: Graph) -> None:
    alice, bob = stage.deploy("alice"), stage.deploy("bob")
    stage.work()
    assert len({each["clientState"] for each in graph.subscribed.values()}) == 2
    graph.get_mail("alice", "a1")
    stage.after(lifecycle.LOOKS_APART)
    graph.get_mail("bob", "b1")
    graph.get_mail("bob", "b2")
    stage.after(lifecycle.LOOKS_APART)
    assert (stage.told(alice), stage.told(bob)) == (["Mail a1"], ["Mail b1", "Mail b2"])


def test_what_is_forged_or_comes_again_brings_nothing(stage: Stage, graph: Graph) -> None:
    alice = stage.deploy("alice")
    stage.work()
    stage.after(SECOND)
    subscription, looks_at = graph.subscription(stage, alice), row(stage.service, alice)["next_run_at"]
    for forged in ("", "guessed", None, 7, ["x"], "\ud800"):
        assert graph.tell(subscription, clientState=forged) == 401
    assert stage.receive(subscription["notificationUrl"]).status == 401
    assert stage.receive(subscription["notificationUrl"], {"value": {}}).status == 401
    assert row(stage.service, alice)["next_run_at"] == looks_at
    graph.get_mail("alice", "a1")
    stage.after(lifecycle.LOOKS_APART)
    for _ in range(3):
        assert graph.tell(subscription) == 202
        stage.after(lifecycle.LOOKS_APART)
    assert stage.told(alice) == ["Mail a1"]


def test_many_calls_bring_about_few_looks(stage: Stage, graph: Graph) -> None:
    alice = stage.deploy("alice")
    stage.work()
    looked_at = stage.clock()
    for _ in range(10):
        assert graph.tell(graph.subscription(stage, alice)) == 202
    assert row(stage.service, alice)["next_run_at"] == looked_at + lifecycle.LOOKS_APART


def test_where_nothing_was_new_it_looks_once_more(stage: Stage, graph: Graph) -> None:
    alice = stage.deploy("alice")
    stage.work()
    stage.after(HOUR)
    stage.clock.advance(5 * MINUTE)  # type: ignore[attr-defined]
    assert graph.tell(graph.subscription(stage, alice)) == 202
    stage.work()
    assert row(stage.service, alice)["next_run_at"] == stage.clock() + firing.ONCE_MORE
    graph.get_mail("alice", "a1", told=False)  # the list knows of it a little later
    stage.after(firing.ONCE_MORE)
    assert stage.told(alice) == ["Mail a1"]
    assert graph.tell(graph.subscription(stage, alice)) == 202
    for _ in range(3):
        stage.after(firing.ONCE_MORE)
    assert row(stage.service, alice)["next_run_at"] > stage.clock() + 20 * MINUTE


def test_a_call_during_a_look_brings_about_another(stage: Stage, graph: Graph) -> None:
    alice = stage.deploy("alice")
    stage.after(HOUR)
    stage.after(HOUR)
    stage.clock.advance(HOUR)  # type: ignore[attr-defined]
    (claimed,) = [each for each in lifecycle.claim_polls(stage.service, 100) if each.id == alice.id]
    graph.get_mail("alice", "a1")
    at = stage.clock() + lifecycle.LOOKS_APART
    firing.poll(stage.service, claimed)
    assert row(stage.service, alice)["next_run_at"] == at


def test_one_that_is_paused_or_gone_from_the_catalog_takes_nothing(
    stage: Stage, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = stage.deploy("alice")
    stage.work()
    subscription = graph.subscription(stage, alice)
    with monkeypatch.context() as patch:

        def fail(_: object) -> None:
            raise LoadError("It is gone.")

        patch.setattr(definition, "component", fail)
        assert graph.tell(subscription) == 200  # as a request like any other
    with stage.service.store.write() as tx:
        lifecycle.switch_off(tx, stage.service, deployed_triggers.get(stage.service.store, alice.scene, alice.id), "x")
    with pytest.raises(Exception, match="nothing at this address"):
        graph.tell(subscription)


def test_google_tells_two_users_on_one_client_of_their_own(calendars: Stage, google: GoogleCalendar) -> None:
    alice, bob = (calendars.deploy(name, calendar_id="primary") for name in ("alice", "bob"))
    calendars.work()
    assert len({channel["token"] for channel in google.channels.values()}) == 2
    google.change("alice", "a1")
    google.change("bob", "b1")
    calendars.after(lifecycle.LOOKS_APART)
    assert (calendars.told(alice), calendars.told(bob)) == (["Event a1"], ["Event b1"])


def test_messages_of_google_that_are_forged_or_come_again_or_say_nothing(
    calendars: Stage, google: GoogleCalendar
) -> None:
    alice = calendars.deploy("alice", calendar_id="primary")
    calendars.work()
    (channel,) = google.channels.values()
    looks_at = row(calendars.service, alice)["next_run_at"]
    assert google.tell(channel, **{"X-Goog-Channel-Token": "guessed"}) == 401
    assert calendars.receive(channel["address"]).status == 401
    assert google.tell(channel, state="sync") == 202
    assert row(calendars.service, alice)["next_run_at"] == looks_at
    google.change("alice", "a1")
    calendars.after(lifecycle.LOOKS_APART)
    assert google.tell(channel) == 202
    calendars.after(lifecycle.LOOKS_APART)
    assert calendars.told(alice) == ["Event a1"]
