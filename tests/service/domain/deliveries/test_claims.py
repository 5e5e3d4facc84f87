"""Claiming what is due: each delivery once, as many as there is room for, and again when a worker has died."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.service.domain.deliveries import claims, counts, deliveries, outcomes
from webapp.service.domain.deliveries.claims import Task
from webapp.service.domain.deliveries.outcomes import Outcome
from webapp.store.contract import NotShared, Store


def test_each_is_claimed_once_until_its_lease_is_over(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()))
    (task,) = post.claim()
    assert (task.attempt, task.body, task.scene) == (1, b'{"n":1}', post.scene)
    assert task.lease_until == post.clock.at + deliveries.LEASE
    assert post.claim() == []
    post.clock.advance(deliveries.LEASE)
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
            outcomes.finish(tx, [Outcome(task, post.clock.at, 1, 200, None) for task in tasks], post.clock.at)
        return tasks

    with ThreadPoolExecutor(4) as pool:
        tasks = [task for tasks in pool.map(claim, workers) for task in tasks]
    assert len(tasks) == len({task.id for task in tasks}) == 20
    for trigger in triggers:
        numbers = [counts.count(post.service.store, trigger.id, [status]) for status in counts.STATUSES]
        assert dict(zip(counts.STATUSES, numbers, strict=True)) == {"waiting": 0, "delivered": 10, "failed": 0}
    assert post.service.store.all("SELECT n FROM usage") == [{"n": 20}]


def test_what_concerns_an_endpoint_that_is_not_well_is_no_matter_of_a_shared_transaction(
    post_on_postgres: DeliveryHarness, workers: list[Store]
) -> None:
    post = post_on_postgres
    post.emit(post.trigger(post.receiver.url()), 1, 2)
    one, other = post.claim()
    failure = Outcome(one, post.clock.at, 1, 500, "No.")
    with pytest.raises(NotShared), workers[0].write(shared=True) as tx:
        outcomes.finish(tx, [failure], post.clock.at)
    assert post.finish([failure]) == 1, "nothing was written before"
    with pytest.raises(NotShared), workers[0].write(shared=True) as tx:
        outcomes.finish(tx, [Outcome(other, post.clock.at, 1, 200, None)], post.clock.at)
