"""Claiming what is due: each delivery once, as many as there is room for, and again when a worker has died.

What comes of attempts: a success settles, a failure is tried again, and whoever was too slow changes nothing.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.service.domain.base import leases
from webapp.service.domain.deliveries import claims, stats
from webapp.service.domain.deliveries.claims import Outcome, Task
from webapp.service.domain.projects import app_usage
from webapp.store.contract import NotShared, Store


def test_each_is_claimed_once_until_its_lease_is_over(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()))
    (task,) = post.claim()
    assert (task.attempt, task.body, task.scene) == (1, b'{"n":1}', post.scene)
    assert task.lease_until == post.clock.at + leases.DELIVERY
    assert post.claim() == []
    post.clock.advance(leases.DELIVERY)
    (again,) = post.claim()
    assert (again.id, again.attempt) == (task.id, 2)


def test_an_endpoint_gets_no_more_than_its_room(post: DeliveryHarness) -> None:
    full, free = post.trigger(post.receiver.url("/full")), post.trigger(post.receiver.url("/free"))
    for trigger in (full, free):
        post.emit(trigger, 1, 2, 3)
    room = {post.endpoint(full).id: 0, post.endpoint(free).id: 2}
    post.room = lambda endpoint, _: room[endpoint.id]
    assert [task.endpoint.id for task in post.claim()] == [post.endpoint(free).id] * 2


def test_the_body_of_a_task_is_never_printed(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()), "canary")
    (task,) = post.claim()
    assert task.body == b'"canary"'
    assert "canary" not in repr(task)


def test_four_workers_claim_side_by_side_and_none_what_another_has(
    post_on_postgres: DeliveryHarness, workers: list[Store]
) -> None:
    """Each waits within its transaction until all four have claimed: they could not, if one came after another."""
    post = post_on_postgres
    triggers = [post.trigger(post.receiver.url(path)) for path in ("/a", "/b")]
    for trigger in triggers:
        post.emit(trigger, *range(10))
    all_have_claimed = threading.Barrier(4, timeout=5)

    def claim(worker: Store) -> list[Task]:
        with worker.write(shared=True) as tx:
            tasks = claims.claim(tx, post.clock.at, lambda *_: 3)
            all_have_claimed.wait()
            claims.finish(tx, [Outcome(task, post.clock.at, 1, 200, None) for task in tasks], post.clock.at)
        return tasks

    with ThreadPoolExecutor(4) as pool:
        tasks = [task for tasks in pool.map(claim, workers) for task in tasks]
    assert len(tasks) == len({task.id for task in tasks}) == 20
    for trigger in triggers:
        numbers = [stats.count(post.service.store, trigger.id, [status]) for status in stats.STATUSES]
        assert dict(zip(stats.STATUSES, numbers, strict=True)) == {"waiting": 0, "delivered": 10, "failed": 0}
    assert post.service.store.all("SELECT n FROM usage") == [{"n": 20}]


def test_what_concerns_an_endpoint_that_is_not_well_is_no_matter_of_a_shared_transaction(
    post_on_postgres: DeliveryHarness, workers: list[Store]
) -> None:
    post = post_on_postgres
    post.emit(post.trigger(post.receiver.url()), 1, 2)
    one, other = post.claim()
    failure = Outcome(one, post.clock.at, 1, 500, "No.")
    with pytest.raises(NotShared), workers[0].write(shared=True) as tx:
        claims.finish(tx, [failure], post.clock.at)
    assert post.finish([failure]) == 1, "nothing was written before"
    with pytest.raises(NotShared), workers[0].write(shared=True) as tx:
        claims.finish(tx, [Outcome(other, post.clock.at, 1, 200, None)], post.clock.at)


def outcome(task: Task, error: str | None = None, status: int = 200) -> Outcome:
    return Outcome(task, 1, 5, status, error)


def test_a_success_ends_its_delivery(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger)
    assert post.finish([outcome(task) for task in post.claim()]) == 1
    row = post.row()
    assert (row["status"], row["next_at"], row["last_error"]) == ("delivered", None, None)
    assert stats.count(post.service.store, trigger.id, ("delivered",)) == 1


def test_a_failure_is_tried_again_later(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()))
    post.finish([outcome(task, "It said no.", 500) for task in post.claim()])
    row = post.row()
    assert (row["status"], row["last_error"], row["last_status"]) == ("waiting", "It said no.", 500)
    assert row["next_at"] > post.clock.at


def test_a_receiver_that_answers_410_gets_nothing_more(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url())
    post.emit(trigger)
    (task,) = post.claim()
    assert outcome(task, "Gone.", 410).gone
    post.finish([outcome(task, "Gone.", 410)])
    (day,) = app_usage.days(post.service.store, post.scene, post.clock.at, post.clock.at)
    assert (day.app, day.counts) == (trigger.app or "", {"event": 1, "failed_delivery": 1})
    assert post.row()["status"] == "failed"
    assert not post.endpoint(trigger).active


def test_whoever_was_too_slow_changes_nothing(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()))
    (slow,) = post.claim()
    post.clock.advance(leases.DELIVERY)
    (quick,) = post.claim()
    assert post.finish([outcome(slow, "Too late.", 500)]) == 0
    assert post.finish([outcome(quick)]) == 1
    assert post.finish([outcome(quick, "Again.", 500)]) == 0
    assert post.row()["status"] == "delivered"
    assert post.finish([]) == 0
