"""What comes of attempts: a success settles, a failure is tried again, and whoever was too slow changes nothing."""

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.service.domain.deliveries import counts, deliveries
from webapp.service.domain.deliveries.claims import Task
from webapp.service.domain.deliveries.outcomes import Outcome


def outcome(task: Task, error: str | None = None, status: int = 200) -> Outcome:
    return Outcome(task, 1, 5, status, error)


def test_a_success_settles_its_delivery(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger)
    assert post.finish([outcome(task) for task in post.claim()]) == 1
    row = post.row()
    assert (row["status"], row["next_at"], row["last_error"]) == ("delivered", None, None)
    assert counts.count(post.service.store, trigger.id, ("delivered",)) == 1


def test_a_failure_is_tried_again_later(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()))
    post.finish([outcome(task, "It said no.", 500) for task in post.claim()])
    row = post.row()
    assert (row["status"], row["last_error"], row["last_status"]) == ("waiting", "It said no.", 500)
    assert row["next_at"] > post.clock.at


def test_a_receiver_that_is_gone_gets_nothing_more(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger)
    (task,) = post.claim()
    assert outcome(task, "Gone.", 410).gone
    post.finish([outcome(task, "Gone.", 410)])
    assert post.row()["status"] == "failed"
    assert not post.endpoint(trigger).active


def test_whoever_was_too_slow_changes_nothing(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()))
    (slow,) = post.claim()
    post.clock.advance(deliveries.LEASE)
    (quick,) = post.claim()
    assert post.finish([outcome(slow, "Too late.", 500)]) == 0
    assert post.finish([outcome(quick)]) == 1
    assert post.finish([outcome(quick, "Again.", 500)]) == 0
    assert post.row()["status"] == "delivered"
    assert post.finish([]) == 0
