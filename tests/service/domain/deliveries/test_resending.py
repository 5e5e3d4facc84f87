"""Sending again by hand: what is taken, what is left, and that a rehearsal changes nothing."""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.errors import Conflict, Invalid, NotFound
from webapp.service.domain.deliveries import resending
from webapp.service.domain.deliveries.log import Filter


def test_a_delivery_is_due_again_from_the_schedules_start(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger)
    post.turn()
    row = resending.resend(post.service, trigger.id, post.row()["id"])
    assert (row["status"], row["tries"], row["next_at"]) == ("waiting", 0, post.clock())
    with pytest.raises(NotFound):
        resending.resend(post.service, "dc_other", row["id"])


def test_a_webhook_that_is_switched_off_takes_nothing(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger)
    post.turn()
    with pytest.raises(Conflict):
        resending.resend(post.service, trigger.id, post.row()["id"])
    assert resending.resend_many(post.service, trigger.id, "failed", Filter(), dry_run=False) == 0


def test_a_rehearsal_counts_and_changes_nothing(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger, {"n": 1}, {"n": 2})
    post.turn()
    before = post.rows()
    assert resending.resend_many(post.service, trigger.id, "all", Filter(), dry_run=True) == 2
    assert post.rows() == before
    assert resending.resend_many(post.service, trigger.id, "failed", Filter(), dry_run=False) == 0
    assert resending.resend_many(post.service, trigger.id, "all", Filter(), dry_run=False) == 2
    with pytest.raises(Invalid):
        resending.resend_many(post.service, trigger.id, "waiting", Filter(), dry_run=True)
