"""Counts of deliveries: exact beside the rows, through every way in which these change."""

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.service.domain.deliveries import counts, events, resending, trigger_webhooks
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.triggers import lifecycle
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def agree(post: DeliveryHarness, trigger: DeployedTrigger) -> dict[str, int]:
    """The counts, which must be those of the rows."""
    kept = {status: counts.count(post.service.store, trigger.id, [status]) for status in counts.STATUSES}
    statuses = [row["status"] for row in post.rows()]
    assert kept == {status: statuses.count(status) for status in counts.STATUSES}
    return kept


def test_counts_follow_the_rows(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/good"), post.receiver.url("/gone", Mood(410)))
    post.emit(trigger, {"n": 1}, {"n": 2})
    assert agree(post, trigger) == {"waiting": 4, "delivered": 0, "failed": 0}
    post.turn()
    assert agree(post, trigger) == {"waiting": 0, "delivered": 2, "failed": 2}
    resending.resend_many(post.service, trigger.id, "all", Filter(), dry_run=False)
    assert agree(post, trigger) == {"waiting": 2, "delivered": 0, "failed": 2}
    with post.service.store.write() as tx:
        trigger_webhooks.set_urls(tx, post.service, trigger, [])
    assert agree(post, trigger) == {"waiting": 0, "delivered": 0, "failed": 4}


def kept(post: DeliveryHarness, *triggers: DeployedTrigger) -> list[int]:
    """What is counted as kept of each trigger and, last, of its user, which must be what the rows say."""
    found = [counts.kept_bytes(post.service.store, trigger.id, trigger.external_user_id) for trigger in triggers]
    ((total,),) = post.service.store.tuples("SELECT COALESCE(SUM(kept), 0) FROM events")
    assert {of_user for _, of_user in found} == {total}
    return [*(of_trigger for of_trigger, _ in found), total]


def test_bytes_are_counted_until_the_events_or_the_trigger_go(post: DeliveryHarness) -> None:
    first, second = post.trigger(), post.trigger()
    post.emit(first, "x" * 98, "y" * 48)
    post.emit(second, "z" * 28)
    assert kept(post, first, second) == [150, 30, 180]
    assert counts.most_kept(post.service.store) == (150, 180)
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
