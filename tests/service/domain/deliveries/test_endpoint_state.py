"""The state of an endpoint: a person may let it begin anew. How deliveries change it stands with them."""

from itertools import pairwise

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.service.domain.deliveries import endpoint_state, retry
from webapp.service.domain.deliveries.claims import Outcome
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


def test_resetting_restarts_the_state(post: DeliveryHarness) -> None:
    trigger = post.trigger(post.receiver.url("/", Mood(410)))
    post.emit(trigger)
    post.turn()
    fresh = endpoint_state.reset(post.service, post.endpoint(trigger))
    assert (fresh.active, fresh.state, fresh.last_error, fresh.consecutive_failures) == (True, "happy", None, 0)
    post.receiver.moods.clear()
    post.emit(trigger)
    assert [one.error for one in post.turn()] == [None]


def test_what_is_put_off_waits_longer_the_longer_it_fails() -> None:
    assert [endpoint_state.pause(n, lambda: 0.5) for n in (3, 4, 5)] == [2 * SECOND, 4 * SECOND, 8 * SECOND]
    assert endpoint_state.pause(500, lambda: 0.5) == 5 * MINUTE


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of ten, and no chance."""
    monkeypatch.setattr(retry, "JITTER", 0.0)
    monkeypatch.setattr(endpoint_state, "PART", 10)
    monkeypatch.setattr(endpoint_state, "ENOUGH", 5)


def turn(post: DeliveryHarness, code: int = 200) -> list[str]:
    """What is claimed and answered with ``code``, in its order; time goes on to when the next is due."""
    due = [row["next_at"] for row in post.rows() if row["next_at"] is not None]
    post.clock.at = max(min(due, default=0), post.clock.at + 1)
    tasks = post.claim()
    error = None if code == 200 else "No."
    post.finish([Outcome(task, post.clock.at, 5, code, error) for task in tasks])
    return [(task.body or b"").decode().strip('"') for task in tasks]


def failing(post: DeliveryHarness, count: int) -> DeployedTrigger:
    """A trigger whose endpoint has failed, so that ``count`` events are put off."""
    trigger = post.trigger("https://hooks.example.com/")
    post.emit(trigger, "a", "b", "c")
    turn(post, 500)
    post.room = lambda endpoint, _: 1 if endpoint.state == "penalty" else 4
    post.emit(trigger, "d", *range(count))
    assert turn(post, 500) == ["d"] and post.endpoint(trigger).state == "penalty"
    assert len(waiting(post)) == count - 1, "all but the oldest, which is tried next"
    return trigger


def waiting(post: DeliveryHarness) -> list[str]:
    """The ids of what is put off, oldest first."""
    return [row["id"] for row in post.rows() if row["status"] == "waiting" and row["next_at"] is None]


@pytest.mark.usefixtures("parts")
def test_what_was_put_off_goes_out_oldest_first_beside_what_is_new(post: DeliveryHarness) -> None:
    trigger = failing(post, 50)
    assert turn(post) == ["0"] and post.endpoint(trigger).state == "happy"
    order = [*turn(post), *turn(post)]
    post.emit(trigger, "new")
    while "new" not in order:
        order += turn(post)
    old = [body for body in order if body.isdigit()]
    assert old == [str(n) for n in range(1, len(old) + 1)]
    assert 8 < len(old) < 30, "what is new waits for a part or two, not for all"
    while bodies := turn(post):
        order += bodies
    assert [body for body in order if body.isdigit()] == [str(n) for n in range(1, 50)]


@pytest.mark.usefixtures("parts")
def test_what_came_while_it_was_tried_again_goes_out_after_what_was_put_off(post: DeliveryHarness) -> None:
    trigger = failing(post, 20)
    post.clock.at = min(row["next_at"] for row in post.rows() if row["next_at"])
    (task,) = post.claim()
    post.emit(trigger, *(f"younger {n}" for n in range(20)))
    post.finish([Outcome(task, post.clock.at, 5, 200, None)])
    order: list[str] = []
    while bodies := turn(post):
        order += [body for body in bodies if body not in "abcd"]
    assert order == [*(str(n) for n in range(1, 20)), *(f"younger {n}" for n in range(20))]


@pytest.mark.usefixtures("parts")
def test_while_it_fails_the_oldest_is_tried_from_time_to_time(post: DeliveryHarness) -> None:
    failing(post, 20)
    began, tried, at = post.clock.at, list[str](), list[int]()
    while post.clock.at < began + HOUR:
        tried += turn(post, 500)
        at.append(post.clock.at)
    fresh = list(dict.fromkeys(body for body in tried if body.isdigit()))
    assert fresh == [str(n) for n in range(len(fresh))] and len(fresh) > 5
    assert max(later - earlier for earlier, later in pairwise(at)) <= 5 * MINUTE, "never longer than it is put off"


@pytest.mark.usefixtures("parts")
def test_failing_again_in_the_middle_keeps_the_order(post: DeliveryHarness) -> None:
    trigger = failing(post, 40)
    while len(waiting(post)) > 25:
        turn(post)
    left = waiting(post)
    while post.endpoint(trigger).state != "penalty":
        turn(post, 500)
    assert turn(post, 500) and set(left) <= set(waiting(post)) | {row["id"] for row in post.rows() if row["next_at"]}
    order: list[str] = []
    for _ in range(40):
        order += [body for body in turn(post) if body.isdigit()]
    untried = [body for body in order if int(body) >= 30]
    assert untried == sorted(untried, key=int)


@pytest.mark.usefixtures("parts")
def test_a_reset_lets_go_what_was_put_off(post: DeliveryHarness) -> None:
    trigger = failing(post, 30)
    endpoint_state.reset(post.service, post.endpoint(trigger))
    order: list[str] = []
    while bodies := turn(post):
        order += [body for body in bodies if body.isdigit()]
    assert order == [str(n) for n in range(30)]


@pytest.mark.parametrize(("code", "waits"), [(500, False), (429, True)])
def test_what_waits_for_a_retry_goes_out_with_the_rest(
    post: DeliveryHarness, parts: None, code: int, waits: bool
) -> None:
    trigger = post.trigger("https://hooks.example.com/")
    post.emit(trigger, "a", "b", "c")
    turn(post, code)
    post.clock.at += HOUR
    tries = [row["tries"] for row in post.rows()]
    assert turn(post, code) and post.endpoint(trigger).state == "penalty", "each has failed twice"
    post.emit(trigger, "d")
    assert turn(post) == ["d"] and post.endpoint(trigger).state == "happy"
    now = post.clock.at
    left = [row for row in post.rows() if row["status"] == "waiting"]
    assert [row["next_at"] > now for row in left] == [waits] * 3
    assert [row["tries"] for row in left] == ([2] * 3 if waits else tries), "what comes early does not count"
