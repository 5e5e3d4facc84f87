"""Counts of deliveries: exact beside the rows, through every way in which these change.

How deliveries have gone: by the hour for one trigger and for several, and of late at each webhook.
"""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.kit.clock import DAY, HOUR
from webapp.service.domain.deliveries import events, log, stats, trigger_webhooks, workflows
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.triggers import lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def agree(post: DeliveryHarness, trigger: DeployedTrigger) -> dict[str, int]:
    """The counts, which must be those of the rows."""
    kept = {status: stats.count(post.service.store, trigger.id, [status]) for status in stats.STATUSES}
    statuses = [row["status"] for row in post.rows()]
    assert kept == {status: statuses.count(status) for status in stats.STATUSES}
    return kept


def test_counts_follow_the_rows(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/good"), post.receiver.url("/gone", Mood(410)))
    post.emit(trigger, {"n": 1}, {"n": 2})
    assert agree(post, trigger) == {"waiting": 4, "delivered": 0, "failed": 0}
    post.turn()
    assert agree(post, trigger) == {"waiting": 0, "delivered": 2, "failed": 2}
    log.resend_many(post.service, trigger.id, "all", Filter(), dry_run=False)
    assert agree(post, trigger) == {"waiting": 2, "delivered": 0, "failed": 2}
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, trigger, [])
    assert agree(post, trigger) == {"waiting": 0, "delivered": 0, "failed": 4}


def kept(post: DeliveryHarness, *triggers: DeployedTrigger) -> list[int]:
    """What is counted as kept of each trigger and, last, of its user, which must be what the rows say."""
    found = [stats.kept_bytes(post.service.store, trigger.id, trigger.external_user_id) for trigger in triggers]
    ((total,),) = post.service.store.tuples("SELECT COALESCE(SUM(kept), 0) FROM events")
    assert {of_user for _, of_user in found} == {total}
    return [*(of_trigger for of_trigger, _ in found), total]


def test_bytes_are_counted_until_the_events_or_the_trigger_go(post: DeliveryHarness) -> None:
    first, second = post.trigger(), post.trigger()
    post.emit(first, "x" * 98, "y" * 48)
    post.emit(second, "z" * 28)
    assert kept(post, first, second) == [150, 30, 180]
    assert stats.most_kept(post.service.store) == (150, 180)
    newest, _ = events.page_of_trigger(post.service.store, first.id)
    with post.service.store.write() as tx:
        events.delete(tx, [newest.id])
    assert kept(post, first, second) == [100, 30, 130]
    with post.service.store.write() as tx:
        lifecycle.remove(tx, first.id)
    assert kept(post, first, second) == [0, 30, 30]
    with post.service.store.write() as tx:
        lifecycle.erase_of_user(tx, second.user)
    assert kept(post, second) == [0, 0]
    assert post.service.store.tuples("SELECT name FROM counters WHERE name LIKE 'kept|%'") == []


@pytest.fixture
def trigger(post: DeliveryHarness) -> DeployedTrigger:
    """A trigger with a delivery that arrived, and an hour later one that did not."""
    made = post.trigger(post.receiver.url())
    post.emit(made, "first")
    post.turn()
    post.clock.advance(HOUR)
    post.receiver.moods["/"] = Mood(500)
    post.emit(made, "second")
    post.turn()
    return made


def statistics(post: DeliveryHarness, trigger: DeployedTrigger) -> dict[str, object]:
    (facts,) = stats.of_webhooks(
        post.service.store, trigger.id, trigger_webhooks.of_trigger(post.service.store, trigger.id)
    ).values()
    return facts


def test_the_last_24_hours(post: DeliveryHarness, trigger: DeployedTrigger) -> None:
    of_day = stats.day(post.service, trigger.id)
    assert len(of_day["hours"]) == stats.HOURS
    assert (of_day["delivered"], of_day["waiting"], of_day["failed"], of_day["events"]) == (1, 1, 0, 2)
    assert of_day["last_error"]
    post.clock.advance(25 * HOUR)
    assert stats.day(post.service, trigger.id)["delivered"] == 0


def test_several_at_once_each_with_its_own(post: DeliveryHarness, trigger: DeployedTrigger) -> None:
    other = post.trigger(post.receiver.url("/other"))
    post.emit(other)
    days = stats.days(post.service, [trigger.id, other.id])
    assert [(days[one.id]["delivered"], days[one.id]["waiting"]) for one in (trigger, other)] == [(1, 1), (0, 1)]
    assert days[other.id]["hours"][-1]["waiting"] == 1
    assert stats.days(post.service, []) == {}


def test_a_webhook_tells_when_something_arrived_how_fast_and_when_it_is_tried_next(
    post: DeliveryHarness, trigger: DeployedTrigger
) -> None:
    facts, waiting = statistics(post, trigger), post.rows()[-1]
    assert facts["last_success_at"] == post.clock.at - HOUR
    assert isinstance(facts["median_ms"], int)
    assert facts["next_attempt_at"] == waiting["next_at"] > post.clock.at


def test_what_arrived_before_it_failed_for_long_is_still_known(
    post: DeliveryHarness, trigger: DeployedTrigger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats, "NEWEST", 2)
    with post.service.store.write() as tx:
        urls = [post.receiver.url(), post.receiver.url("/other")]
        trigger_webhooks.set_urls(tx, post.service, trigger, urls)
    before = post.clock.at - HOUR
    for _ in range(3):
        post.clock.advance(DAY)
        post.emit(trigger)
        post.turn()
    first, _ = trigger_webhooks.of_trigger(post.service.store, trigger.id)
    assert stats.of_webhooks(post.service.store, trigger.id, [first])[first.id]["last_success_at"] == before


def test_an_endpoint_tells_of_all_that_goes_there_however_much_goes_elsewhere(
    post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats, "NEWEST", 2)
    store, clock = post.service.store, post.service.clock
    quiet, busy = (
        workflows.add(post.service, post.scene, name=name, url=post.receiver.url(f"/{name}")) for name in ("a", "b")
    )
    assert stats.last_success(store, quiet) is None and stats.of_endpoint(store, quiet)["last_success_at"] is None
    post.emit(post.trigger(workflows=[quiet.id]))
    post.turn()
    arrived = clock()
    for _ in range(3):
        post.clock.advance(HOUR)
        post.emit(post.trigger(workflows=[busy.id]))
        post.turn()
    assert stats.last_success(store, quiet) == stats.of_endpoint(store, quiet)["last_success_at"] == arrived
    assert stats.last_success(store, busy) == stats.of_endpoint(store, busy)["last_success_at"] == clock()
    assert isinstance(stats.of_endpoint(store, quiet)["median_ms"], int)


def test_one_that_nothing_was_sent_to_has_nothing_to_tell(post: DeliveryHarness) -> None:
    assert statistics(post, post.trigger(post.receiver.url())) == {
        "last_success_at": None, "median_ms": None, "next_attempt_at": None,
    }  # fmt: skip
