"""The state of an endpoint: a person may let it begin anew. How deliveries change it stands with them."""

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.service.domain.deliveries import endpoint_state


def test_resetting_begins_anew(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger)
    post.turn()
    fresh = endpoint_state.reset(post.service, post.endpoint(trigger))
    assert (fresh.active, fresh.state, fresh.last_error, fresh.consecutive_failures) == (True, "happy", None, 0)
    post.receiver.moods.clear()
    post.emit(trigger)
    assert [one.error for one in post.turn()] == [None]
