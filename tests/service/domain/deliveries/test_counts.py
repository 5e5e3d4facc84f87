"""Counts of deliveries: exact beside the rows, through every way in which these change."""

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.service.domain.deliveries import counts, resending, trigger_webhooks
from webapp.service.domain.deliveries.log import Filter
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
    assert agree(post, trigger) == {"waiting": 0, "delivered": 0, "failed": 0}
