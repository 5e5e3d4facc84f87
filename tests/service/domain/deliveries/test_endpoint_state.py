"""The state of an endpoint: a person may let it begin anew. How deliveries change it stands with them."""

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.service.domain.deliveries import endpoint_state
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def test_resetting_begins_anew(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger)
    post.turn()
    fresh = endpoint_state.reset(post.service, post.endpoint(trigger))
    assert (fresh.active, fresh.state, fresh.last_error, fresh.consecutive_failures) == (True, "happy", None, 0)
    post.receiver.moods.clear()
    post.emit(trigger)
    assert [one.error for one in post.turn()] == [None]


def put_off(post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch, count: int) -> DeployedTrigger:
    """A trigger whose endpoint failed, so that ``count`` events are put off but for the one that was tried."""
    monkeypatch.setattr(endpoint_state, "PART", 10)
    trigger = post.trigger(post.receiver.url("/", Mood(500)))
    post.emit(trigger, "a", "b", "c")
    post.turn()
    post.room = lambda endpoint, _: 1 if endpoint.state == "penalty" else 4
    post.emit(trigger, *range(count))
    post.turn()
    assert post.endpoint(trigger).state == "penalty" and post.claim() == []
    return trigger


def sent(post: DeliveryHarness) -> list[str]:
    """The bodies that came in since this was asked last, in their order."""
    bodies = [one.body.decode() for one in post.receiver.got]
    post.receiver.got.clear()
    return bodies


def test_what_was_put_off_goes_out_steadily_oldest_first_beside_what_is_new(
    post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = put_off(post, monkeypatch, 50)
    until = {row["next_at"] for row in post.rows() if row["tries"] == 0}
    assert until == {post.endpoint(trigger).put_off_until}
    post.receiver.moods.clear()
    sent(post)
    post.clock.at = until.pop()
    assert post.endpoint(trigger).draining
    order: list[str] = []
    while not any(body == '"new"' for body in order):
        post.turn()
        post.clock.advance(1)
        order += sent(post)
        if len(order) == 9:
            post.emit(trigger, "new")
    numbers = [int(body) for body in order if body.isdigit()]
    assert all(abs(n - place) < 4 for place, n in enumerate(numbers, start=1)), "oldest first, four at once"
    assert 9 < len(numbers) < 9 + 2 * 10 + 8, "what is new waits for a part, not for all"
    while post.turn():
        order += sent(post)
    assert sorted(int(body) for body in order if body.isdigit()) == list(range(1, 50)), "and no time had to pass"
    assert not post.endpoint(trigger).draining


def test_one_that_fails_again_meanwhile_is_put_off_again_in_order(
    post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = put_off(post, monkeypatch, 30)
    post.receiver.moods.clear()
    post.clock.at = post.endpoint(trigger).put_off_until
    post.turn()
    post.receiver.url("/", Mood(500))
    while post.turn():
        pass
    assert post.endpoint(trigger).state == "penalty" and post.endpoint(trigger).put_off_until > post.clock.at
    left = [row["id"] for row in post.rows() if row["tries"] == 0]
    again = [row["id"] for row in sorted(post.rows(), key=lambda row: row["next_at"] or 0) if row["tries"] == 0]
    assert again == left and len(left) > 10


def test_a_reset_lets_go_what_was_put_off(post: DeliveryHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    trigger = put_off(post, monkeypatch, 30)
    post.receiver.moods.clear()
    endpoint_state.reset(post.service, post.endpoint(trigger))
    sent(post)
    while post.turn():
        pass
    assert sorted(int(body) for body in sent(post)) == list(range(1, 30))
