"""Deliveries as the owner of a trigger sees them: filtered, in detail, and none of another trigger.

Sending again by hand: what is taken, what is left, and that a rehearsal changes nothing.
"""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import HOUR
from webapp.service.domain.deliveries import log
from webapp.service.domain.deliveries.log import Filter
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def statuses(post: DeliveryHarness, trigger: DeployedTrigger, filters: Filter) -> list[str]:
    page = log.page(post.service.store, trigger.id, filters, cursors.Window(50))
    assert page.total_count == len(page.items)
    return [row["status"] for row in page.items]


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


def test_filters(post: DeliveryHarness, trigger: DeployedTrigger) -> None:
    assert statuses(post, trigger, Filter()) == ["waiting", "delivered"]
    assert statuses(post, trigger, Filter(status="delivered")) == ["delivered"]
    assert statuses(post, trigger, Filter(since=post.clock.at)) == ["waiting"]
    assert statuses(post, trigger, Filter(until=post.clock.at - 1)) == ["delivered"]
    assert statuses(post, trigger, Filter(event_id="evt_none")) == []
    with pytest.raises(Invalid):
        statuses(post, trigger, Filter(status="lost"))


def test_one_in_detail_and_none_of_another_trigger(post: DeliveryHarness, trigger: DeployedTrigger) -> None:
    delivery_id = post.rows()[0]["id"]
    shown = log.details(post.service, trigger.id, delivery_id)
    assert (shown["status"], shown["request"]["body"], len(shown["attempts"])) == ("delivered", '"first"', 1)
    for trigger_id, other_id in (("dc_other", delivery_id), (trigger.id, "del_none")):
        with pytest.raises(NotFound):
            log.details(post.service, trigger_id, other_id)


def test_a_delivery_is_due_again_from_the_schedules_start(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger)
    post.turn()
    row = log.resend(post.service, trigger.id, post.row()["id"])
    assert (row["status"], row["tries"], row["next_at"]) == ("waiting", 0, post.clock())
    with pytest.raises(NotFound):
        log.resend(post.service, "dc_other", row["id"])


def test_a_webhook_that_is_switched_off_takes_nothing(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger)
    post.turn()
    with pytest.raises(Conflict):
        log.resend(post.service, trigger.id, post.row()["id"])
    assert log.resend_many(post.service, trigger.id, "failed", Filter(), dry_run=False) == 0


def test_a_rehearsal_counts_and_changes_nothing(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger, {"n": 1}, {"n": 2})
    post.turn()
    before = post.rows()
    assert log.resend_many(post.service, trigger.id, "all", Filter(), dry_run=True) == 2
    assert post.rows() == before
    assert log.resend_many(post.service, trigger.id, "failed", Filter(), dry_run=False) == 0
    assert log.resend_many(post.service, trigger.id, "all", Filter(), dry_run=False) == 2
    with pytest.raises(Invalid):
        log.resend_many(post.service, trigger.id, "waiting", Filter(), dry_run=True)
