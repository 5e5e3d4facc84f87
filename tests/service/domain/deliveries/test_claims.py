"""Claiming what is due: each delivery once, as many as there is room for, and again when a worker has died."""

from tests.fakes.delivery_harness import DeliveryHarness
from webapp.service.domain.deliveries import deliveries


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
