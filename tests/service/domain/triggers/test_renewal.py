"""What stands at Microsoft is renewed in time, made anew where it was lost, and what came meanwhile is fetched."""

import pytest

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.google_push import GoogleCalendar
from tests.fakes.declared.graph import KEY, Graph
from tests.fakes.declared.push import Stage, watching
from tests.fakes.triggers import row
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.components.calls import Reply
from webapp.service.domain.triggers import (
    calls,
    deployed_triggers,
    deployments,
    fire,
    lifecycle,
    renewal,
    subscriptions,
    trigger_json,
)
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Change


def stands(push_stage: Stage, trigger: DeployedTrigger) -> bool:
    subscription = subscriptions.find(push_stage.service.store, trigger.id)
    return subscription is not None and subscription.is_active(push_stage.clock())


def entries(push_stage: Stage, trigger: DeployedTrigger) -> list[str]:
    """What the history says of being told, the newest first."""
    rows = push_stage.service.store.all(
        "SELECT kind, sentence FROM account_history WHERE trigger_id = :id ORDER BY id DESC", {"id": trigger.id}
    )
    return [each["sentence"] for each in rows if "told" in each["kind"]]


def test_it_is_renewed_before_it_ends_and_looks_seldom_meanwhile(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    first = graph.subscription(push_stage, alice)["id"]
    assert row(push_stage.service, alice)["next_run_at"] - push_stage.clock() >= fire.POLL_INTERVAL_WHEN_NOTIFIED
    for _ in range(10):
        push_stage.after(DAY)
        assert graph.ends(push_stage, alice) > push_stage.clock() + 12 * HOUR
    assert graph.subscription(push_stage, alice)["id"] == first
    assert graph.asked.count("POST /subscriptions") == 1
    assert entries(push_stage, alice) == []


def test_a_subscription_that_microsoft_lost_is_replaced_and_missed_events_are_fetched(
    push_stage: Stage, graph: Graph
) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    lost = graph.subscribed.pop(graph.subscription(push_stage, alice)["id"])
    graph.get_mail("alice", "a1")
    assert graph.tell(lost, "subscriptionRemoved") == 202
    push_stage.after(lifecycle.POLLS_APART)
    assert push_stage.told(alice) == ["Mail a1"]
    assert graph.subscription(push_stage, alice)["id"] != lost["id"]
    assert graph.tell(lost) == 401


@pytest.mark.parametrize("event", ["reauthorizationRequired", "missed"])
def test_microsoft_asks_for_a_renewal_and_for_a_look(push_stage: Stage, graph: Graph, event: str) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    push_stage.clock.advance(HOUR)  # type: ignore[attr-defined]
    ends = graph.ends(push_stage, alice)
    graph.get_mail("alice", "a1", told=False)
    assert graph.tell(graph.subscription(push_stage, alice), event) == 202
    push_stage.work()
    assert graph.ends(push_stage, alice) == ends + HOUR
    assert push_stage.told(alice) == ["Mail a1"]


def test_what_has_ended_as_it_is_made_is_not_made_again_at_once(
    push_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = push_stage.deploy("alice")
    over = Reply(None, ends_at=push_stage.clock() + SECOND)  # a clock that is ahead of the app's
    monkeypatch.setattr(calls, "run_hook", lambda *_: over)
    push_stage.clock.advance(DAY)  # type: ignore[attr-defined]
    (claimed,) = subscriptions.claim(push_stage.service, 9)
    renewal.renew(push_stage.service, claimed)
    subscription = subscriptions.find(push_stage.service.store, alice.id)
    assert subscription is not None
    assert (subscription.failures, subscription.renew_at) == (1, push_stage.clock() + subscriptions.BACK_OFF[0])
    assert "Check the clock of this machine." in (subscription.error or "")


def test_one_that_fails_backs_off_tells_and_polls_meanwhile(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    graph.refuses = 503
    push_stage.after(2 * DAY)
    for pause in subscriptions.BACK_OFF[:2]:
        assert entries(push_stage, alice) == []
        push_stage.after(pause)
    (sentence,) = entries(push_stage, alice)
    assert sentence.startswith("Microsoft Outlook is not sending notifications to New email.")
    assert "Not now" in sentence
    push_stage.after(DAY)
    assert not stands(push_stage, alice)
    shown = trigger_json.to_json(push_stage.service, alice, extensions=True)
    assert (shown["notified"], "Not now" in shown["notification_error"]) == (False, True)
    graph.get_mail("alice", "a1", told=False)
    push_stage.after(6 * MINUTE)
    assert push_stage.told(alice) == ["Mail a1"]
    graph.refuses = 0
    graph.subscribed.clear()
    graph.get_mail("alice", "a2")
    push_stage.after(DAY)
    assert stands(push_stage, alice)
    push_stage.work()
    assert push_stage.told(alice) == ["Mail a1", "Mail a2"]
    assert entries(push_stage, alice)[0] == "Microsoft Outlook sends notifications to New email again."
    shown = trigger_json.to_json(push_stage.service, alice, extensions=True)
    assert (shown["notified"], shown["notification_error"], shown["instant"]) == (True, None, False)


def test_it_is_taken_back_when_it_is_paused_changed_or_deleted(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    paused = deployments.update(push_stage.service, alice, Change(active=False))
    assert (graph.subscribed, subscriptions.find(push_stage.service.store, alice.id)) == ({}, None)
    push_stage.after(DAY)
    assert graph.subscribed == {}
    resumed = deployments.update(push_stage.service, paused, Change(active=True))
    push_stage.work()
    assert graph.subscription(push_stage, alice)["resource"] == "me/mailFolders('inbox')/messages"
    deployments.update(push_stage.service, resumed, Change(configured={"folder_id": "f1"}))
    push_stage.work()
    assert graph.subscription(push_stage, alice)["resource"] == "me/mailFolders('f1')/messages"
    deployments.delete(push_stage.service, deployed_triggers.get(push_stage.service.store, alice.scene, alice.id))
    assert graph.subscribed == {}


def test_one_that_cannot_be_taken_back_ends_by_itself(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    graph.refuses = 500
    deployments.delete(push_stage.service, deployed_triggers.get(push_stage.service.store, alice.scene, alice.id))
    assert len(graph.subscribed) == 1


def test_one_whose_account_is_dead_waits_for_its_person(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    push_stage.work()
    count = len(graph.asked)
    (account,) = push_stage.service.store.all(
        "SELECT account_id FROM trigger_accounts WHERE trigger_id = :id", {"id": alice.id}
    )
    with push_stage.service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 1 WHERE id = :id", {"id": account["account_id"]})
    push_stage.after(3 * DAY)
    assert len(graph.asked) == count
    with push_stage.service.store.write() as tx:
        tx.run("UPDATE accounts SET dead = 0 WHERE id = :id", {"id": account["account_id"]})
    push_stage.after(HOUR)
    assert stands(push_stage, alice)


def test_one_that_is_being_changed_is_renewed_after_that(push_stage: Stage, graph: Graph) -> None:
    alice = push_stage.deploy("alice")
    (due,) = [each for each in subscriptions.claim(push_stage.service, 100) if each.trigger_id == alice.id]
    with lifecycle.locked(push_stage.service, alice):
        renewal.renew(push_stage.service, due)
    assert graph.subscribed == {}
    push_stage.after(15 * SECOND)
    assert stands(push_stage, alice)


@pytest.mark.parametrize("url", ["http://patchbay.example", "https://localhost:8600"])
def test_without_a_public_address_it_polls(slack_bench: Bench, graph: Graph, url: str) -> None:
    with watching(slack_bench, graph, KEY, url) as push_stage:
        alice = push_stage.deploy("alice")
        push_stage.work()
        graph.get_mail("alice", "a1")
        push_stage.after(5 * MINUTE)
        assert (graph.asked, push_stage.told(alice)) == ([], ["Mail a1"])
        deployments.delete(push_stage.service, deployed_triggers.get(push_stage.service.store, alice.scene, alice.id))
        assert graph.asked == []


def test_a_channel_of_google_gives_way_to_another_before_it_ends(calendars: Stage, google: GoogleCalendar) -> None:
    alice = calendars.deploy("alice", calendar_id="primary")
    calendars.work()
    (first,) = google.channels.values()
    for _ in range(6):
        google.now += DAY
        calendars.after(DAY)
        (channel,) = google.channels.values()
        assert int(channel["expiration"]) > calendars.clock()
    assert channel["token"] != first["token"]
    assert google.tell(first) == 401
    google.change("alice", "a1")
    calendars.after(lifecycle.POLLS_APART)
    assert calendars.told(alice) == ["Event a1"]
    deployments.update(calendars.service, alice, Change(active=False))
    assert google.channels == {}


def test_what_changed_while_google_forgot_is_fetched(calendars: Stage, google: GoogleCalendar) -> None:
    alice = calendars.deploy("alice", calendar_id="primary")
    calendars.work()
    google.channels.clear()
    google.now = calendars.clock() + MINUTE
    google.change("alice", "a1")
    google.forgotten = 9
    calendars.after(HOUR)
    assert calendars.told(alice) == ["Event a1"]
    google.forgotten = 0
    calendars.after(HOUR)
    assert calendars.told(alice) == ["Event a1"]
