"""The outbox: claims, leases, fences, the schedule, and what counts.

Attempts are logged in one statement, however many there are.
"""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.errors import Conflict
from webapp.kit import cursors
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.domain.base import leases
from webapp.service.domain.deliveries import (
    claims,
    deliveries,
    endpoint_state,
    endpoints,
    log,
    retry,
    stats,
    trigger_webhooks,
)
from webapp.service.domain.deliveries.claims import Outcome
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.instance import event_retention


def test_an_event_goes_to_each_webhook_once(post: DeliveryHarness) -> None:
    urls = [post.receiver.url("/a"), post.receiver.url("/b")]
    trigger = post.trigger(*urls)
    post.emit(trigger, {"n": 1}, {"n": 2})
    assert len(post.turn()) == 4
    assert post.turn() == []
    assert sorted((one.path, one.body) for one in post.receiver.got) == [
        ("/a", b'{"n":1}'), ("/a", b'{"n":2}'), ("/b", b'{"n":1}'), ("/b", b'{"n":2}'),
    ]  # fmt: skip
    assert {row["status"] for row in post.rows()} == {"delivered"}
    assert stats.count(post.service.store, trigger.id, ("delivered",)) == 4
    assert stats.count(post.service.store, trigger.id, ("waiting", "failed")) == 0


def test_without_a_place_of_its_own_an_event_goes_to_the_project_webhook_or_nowhere(post: DeliveryHarness) -> None:
    trigger = post.trigger()
    post.emit(trigger)
    assert post.rows() == []
    with post.service.store.write() as tx:
        endpoints.add(tx, post.service, "project", post.receiver.url("/project"), scene=post.scene)
    post.emit(trigger)
    post.emit(post.trigger(post.receiver.url("/own")))
    post.turn()
    assert sorted(one.path for one in post.receiver.got) == ["/own", "/project"]


def test_what_is_claimed_is_nobody_elses_until_the_lease_is_over(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()))
    (first,) = post.claim()
    assert post.claim() == []
    post.clock.advance(leases.DELIVERY - 1)
    assert post.claim() == []
    post.clock.advance(1)
    (second,) = post.claim()
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.id == second.id


def test_a_worker_that_was_too_slow_changes_nothing(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger)
    (slow,) = post.claim()
    post.clock.advance(leases.DELIVERY)
    (quick,) = post.claim()
    assert post.finish([Outcome(slow, post.clock(), 9, 500, "Too late.")]) == 0
    assert post.row()["lease_until"] > 0
    assert post.finish([Outcome(quick, post.clock(), 9, 200, None)]) == 1
    assert post.finish([Outcome(quick, post.clock(), 9, 500, "Twice.")]) == 0
    assert (post.row()["status"], post.row()["last_status"]) == ("delivered", 200)
    assert post.endpoint(trigger).consecutive_failures == 0


def test_the_whole_schedule_then_failed(post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "JITTER", 0.0)
    post.emit(post.trigger(post.receiver.url("/", Mood(500))))
    began, seen = post.clock(), []
    while post.row()["next_at"] is not None:
        post.clock.at = post.row()["next_at"]
        seen.append(post.clock() - began)
        assert len(post.turn()) == 1
    pauses = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, *(n * HOUR for n in (2, 5, 10, 14, 20, 24))]
    assert seen == [sum(pauses[: n + 1]) for n in range(10)]
    assert (post.row()["status"], post.row()["attempt"]) == ("failed", 10)
    assert len({one.headers["webhook-id"] for one in post.receiver.got}) == 1
    attempts = post.service.store.all("SELECT n, status FROM delivery_attempts ORDER BY n")
    assert attempts == [{"n": n, "status": 500} for n in range(1, 11)]


def test_retry_after_is_honoured(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url("/", Mood(429, {"Retry-After": "120"}))))
    post.turn()
    assert post.row()["next_at"] == post.clock() + 120 * SECOND
    post.clock.advance(119 * SECOND)
    assert post.turn() == []
    post.clock.advance(SECOND)
    assert len(post.turn()) == 1


def test_gone_switches_the_webhook_off_and_everything_waits_until_it_is_switched_on(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger, 1, 2, 3)
    post.room = lambda *_: 1
    post.turn()
    found = post.endpoint(trigger)
    assert (found.active, found.state) == (False, "deactivated")
    assert "410" in (found.last_error or "")
    post.emit(trigger, 4)
    assert [row["status"] for row in post.rows()] == ["failed", "waiting", "waiting", "waiting"]
    assert all("switched off" in row["last_error"] for row in post.rows()[1:])
    assert post.turn() == [] and len(post.receiver.got) == 1
    assert stats.count(post.service.store, trigger.id, ("waiting",)) == 3
    post.receiver.moods.clear()
    endpoint_state.reset(post.service, found)
    while post.turn():
        pass
    assert [one.body for one in post.receiver.got[1:]] == [b"2", b"3", b"4"]


def test_five_days_without_a_success_switch_it_off_and_say_why(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(500)))
    post.emit(trigger)
    post.turn()
    post.clock.advance(5 * DAY - 1)
    post.turn()
    assert post.endpoint(trigger).active
    post.clock.advance(DAY)
    post.turn()
    found = post.endpoint(trigger)
    assert (found.active, found.state) == (False, "deactivated")
    assert "5 days" in (found.last_error or "")
    assert "500" in (found.last_error or "")


def test_a_success_in_between_restarts_the_five_days(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(500)))
    post.emit(trigger)
    post.turn()
    post.receiver.moods.clear()
    post.clock.advance(4 * DAY)
    post.turn()
    assert post.endpoint(trigger).failing_since is None
    post.receiver.moods["/"] = Mood(500)
    post.emit(trigger)
    post.turn()
    post.clock.advance(4 * DAY)
    post.turn()
    assert post.endpoint(trigger).active


def test_a_failing_endpoint_gets_fewer_at_once_and_the_rest_is_put_off_and_counted(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(500)))
    post.emit(trigger, *range(3))
    post.turn()
    assert post.endpoint(trigger).state == "penalty"
    post.emit(trigger, *range(10))
    post.room = lambda endpoint, _: 1 if endpoint.state == "penalty" else 100
    assert len(post.turn()) == 1
    assert post.endpoint(trigger).sheds == 9
    assert post.claim() == []
    post.receiver.moods.clear()
    post.clock.advance(10 * SECOND)
    assert len(post.turn()) == 1
    recovered = post.endpoint(trigger)
    assert (recovered.state, recovered.consecutive_failures, recovered.last_error) == ("happy", 0, None)
    assert len(post.turn()) >= 8  # what was put off does not wait for its time any more


def test_every_endpoint_has_its_turn_however_much_waits_for_one(post: DeliveryHarness) -> None:
    crowded = post.trigger(post.receiver.url("/crowded"))
    post.emit(crowded, *range(claims.MAX_DUE + 50))
    post.clock.advance(1)
    others = [post.trigger(post.receiver.url(f"/{n}")) for n in range(5)]
    for one in others:
        post.emit(one)
    post.room = lambda *_: 2
    claimed = {endpoints.url_of(post.service, task.endpoint) for task in post.claim()}
    assert claimed == {post.receiver.url("/crowded"), *(post.receiver.url(f"/{n}") for n in range(5))}


def test_removing_a_webhook_keeps_its_deliveries_with_their_events(post: DeliveryHarness) -> None:
    url = post.receiver.url("/", Mood(410))
    trigger = post.trigger(url)
    post.emit(trigger, "delivered", "on its way", "waits")
    post.room = lambda *_: 2
    done, task = post.claim()
    post.finish([Outcome(done, post.clock(), 1, 200, None)])
    before = post.endpoint(trigger)
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, trigger, [])
    assert trigger_webhooks.of_trigger(post.service.store, trigger.id) == []
    post.finish([Outcome(task, post.clock(), 1, 500, "No.")])
    post.clock.advance(MINUTE)
    assert post.claim() == []
    rows = log.page(post.service.store, trigger.id, Filter(), cursors.Window()).items
    assert [(row["status"], row["url"]) for row in rows] == [
        (status, post.receiver.url("/…")) for status in ("failed", "failed", "delivered")
    ]
    assert {row["last_error"] for row in rows} == {endpoints.REMOVED, None}
    assert stats.count(post.service.store, trigger.id, ("failed",)) == 2
    with pytest.raises(Conflict, match="was removed"):
        log.resend(post.service, trigger.id, rows[0]["id"])
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, trigger, [url])
    assert post.endpoint(trigger).id != before.id and post.endpoint(trigger).active
    assert post.service.store.one("SELECT 1 FROM endpoints WHERE key_sealed = :key", {"key": before.key_sealed}) is None


def test_what_waits_for_a_removed_webhook_that_was_switched_off_has_failed(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger, 1)
    post.turn()
    post.emit(trigger, 2)
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, trigger, [])
    assert [row["status"] for row in post.rows()] == ["failed", "failed"]
    post.clock.advance(post.service.settings.event_days * DAY + 1)
    event_retention.purge(post.service)
    assert post.service.store.one("SELECT 1 FROM endpoints") is None, "its address goes with its last delivery"


def test_next_due(post: DeliveryHarness) -> None:
    store = post.service.store
    assert deliveries.next_due_at(store) is None
    post.emit(post.trigger(post.receiver.url()))
    assert deliveries.next_due_at(store) == post.clock()
    assert deliveries.next_due_at(store, post.clock()) is None
    (task,) = post.claim()
    assert deliveries.next_due_at(store) == task.lease_until


def test_rows_become_marks_and_parameters() -> None:
    marks, params = deliveries.attempt_values([("a", 1), ("b", None)])
    assert marks == "(:r0_0, :r0_1), (:r1_0, :r1_1)"
    assert params == {"r0_0": "a", "r0_1": 1, "r1_0": "b", "r1_1": None}
