"""Bodies as they are sent: composed of requests, small and large, and gone when the event is."""

import orjson
import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.triggers import request_of
from webapp.service.domain.deliveries import event_bodies, events, received
from webapp.service.domain.deliveries.events import Event
from webapp.service.domain.instance import rotation

LARGE = "é" * received.SMALL


@pytest.mark.parametrize("body", ["small", LARGE])
def test_a_request_is_delivered_and_shown_as_its_payload(post: DeliveryHarness, body: str) -> None:
    trigger = post.trigger(post.receiver.url())
    request = request_of(body)
    with post.service.store.write() as tx:
        event = events.record_request(tx, post.service, trigger, request, "POST /", request.size())
    post.turn()
    (delivered,) = post.receiver.got
    assert orjson.loads(delivered.body) == request.payload()
    (listed,) = events.opened(post.service, events.page_of_trigger(post.service.store, trigger.id))
    assert listed.body == delivered.body == events.body_of(post.service, event.id)
    assert event_bodies.size_of(post.service.store, event.id) == request.size() >= len(delivered.body)
    rotation.rotate(post.service)
    assert events.body_of(post.service, event.id) == delivered.body


def test_a_large_body_is_kept_once_and_goes_with_its_event(post: DeliveryHarness) -> None:
    trigger, request = post.trigger(), request_of(LARGE)
    with post.service.store.write() as tx:
        event: Event = events.record_request(tx, post.service, trigger, request, "POST /", request.size())
    sizes = "SELECT SUM(LENGTH(body_sealed)) + (SELECT SUM(LENGTH(part_sealed)) FROM body_parts) FROM events"
    ((kept,),) = post.service.store.tuples(sizes)
    assert event.kept <= kept < event.kept + 200 and event.kept < len(request.content) + 200
    with post.service.store.write() as tx:
        events.delete(tx, [event.id])
    assert post.service.store.tuples("SELECT COUNT(*) FROM body_parts") == [(0,)]
    with pytest.raises(LookupError):
        events.body_of(post.service, event.id)
