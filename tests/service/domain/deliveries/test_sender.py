"""One attempt against receivers of every kind: what is sent, what counts, how long it may take."""

import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from tests.fakes.certificates import Authority
from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import PRIVATE, Mood, black_hole, closed_port, receiving
from webapp.errors import Unavailable
from webapp.kit.clock import now
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.deliveries.claims import Outcome
from webapp.service.domain.deliveries.sender import LargeBodies
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard

DEADLINE_S = 1.0
SHORT_S = 0.3  # where it is to pass
HELD_S = 20.0  # so long at least would those hold the worker that do not answer; how soon it is free: tests/faults


def test_the_request_is_the_event_signed_both_ways(post: DeliveryHarness) -> None:
    post.clock.at = now()  # the standard's own library compares with the wall clock
    trigger = post.trigger(post.receiver.url("/hook?x=1"))
    event = {"name": "Zoë", "big": 2**70, "list": [1, None, 1.5]}
    post.emit(trigger, event)
    (outcome,) = post.turn()
    (got,) = post.receiver.got
    key = post.key(trigger)
    assert Webhook(key).verify(got.body, got.headers) == event
    given = dict(part.split("=", 1) for part in got.headers["x-pd-signature"].split(","))
    expected = hmac.new(key.encode(), f"{given['t']}.".encode() + got.body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(expected, given["v1"])
    assert got.headers["content-type"] == "application/json"
    assert got.headers["webhook-id"] == outcome.task.event_id
    assert got.path == "/hook?x=1"


@pytest.mark.parametrize(
    ("mood", "status", "words"),
    [
        (Mood(200), 200, None),
        (Mood(204, body=b""), 204, None),
        (Mood(200, trick="endless"), 200, None),
        (Mood(500), 500, "answered 500"),
        (Mood(302, {"Location": PRIVATE}), 302, "a redirect, which is not followed"),
        (Mood(410), 410, "accepts no more"),
        (Mood(429, {"Retry-After": "120"}), 429, "answered 429"),
        (Mood(trick="reset"), None, "broke the connection off"),
        (Mood(trick="drip"), None, "did not finish its answer in time"),
        (Mood(trick="hang"), None, "did not finish its answer in time"),
        (Mood(500, trick="endless"), 500, "answered 500"),
    ],
    ids=["200", "204", "endless 200", "500", "302", "410", "429", "reset", "drip", "hang", "endless 500"],
)
def test_every_answer(post: DeliveryHarness, mood: Mood, status: int | None, words: str | None) -> None:
    outcome, took = _attempt(
        post, post.receiver.url("/", mood), SHORT_S if words and "in time" in words else DEADLINE_S
    )
    assert outcome.status == status
    assert (outcome.error is None) if words is None else (words in (outcome.error or ""))
    assert took < HELD_S


def _refused(post: DeliveryHarness) -> tuple[str, str]:
    netloc = closed_port()
    post.allow(netloc)
    return f"http://{netloc}/", "accepts no connection"


def _no_tls(post: DeliveryHarness) -> tuple[str, str]:
    return f"https://{post.receiver.netloc}/", "no secure connection"


def _private(post: DeliveryHarness) -> tuple[str, str]:
    return PRIVATE, "not on the public internet"


def _loopback(post: DeliveryHarness) -> tuple[str, str]:
    return "http://127.0.0.1:1024/", "not on the public internet"


@pytest.mark.parametrize("kind", [_refused, _no_tls, _private, _loopback])
def test_no_answer_at_all(post: DeliveryHarness, kind: Callable[[DeliveryHarness], tuple[str, str]]) -> None:
    url, words = kind(post)
    outcome, took = _attempt(post, url)
    assert outcome.status is None
    assert words in (outcome.error or "")
    assert took < HELD_S


def test_a_black_hole_frees_the_worker_in_time(post: DeliveryHarness) -> None:
    with black_hole() as netloc:
        post.allow(netloc)
        outcome, took = _attempt(post, f"http://{netloc}/", SHORT_S)
    assert "did not answer in time" in (outcome.error or "")
    assert took < HELD_S


def test_a_certificate_that_nobody_vouches_for(post: DeliveryHarness, tmp_path: Path) -> None:
    with receiving(Authority(tmp_path).context("localhost")) as server:
        netloc = f"localhost:{server.server_address[1]}"
        post.allow(netloc)
        outcome, _ = _attempt(post, f"https://{netloc}/")
        assert server.got == []
    assert "certificate" in (outcome.error or "")


@pytest.mark.embedded
def test_what_the_receiver_said_is_kept_without_its_cookies(post: DeliveryHarness) -> None:
    mood = Mood(500, {"Set-Cookie": "session=canary", "X-Why": "tired"}, body=b"x" * 5_000)
    outcome, _ = _attempt(post, post.receiver.url("/", mood))
    assert outcome.response["headers"]["set-cookie"] == "•••"  # type: ignore[index]
    assert outcome.response["headers"]["x-why"] == "tired"  # type: ignore[index]
    assert outcome.response["body"] == "x" * 2_000
    assert b"canary" not in (post.service.settings.data / "patchbay.db-wal").read_bytes()


def test_a_large_event_is_sent_whole(post: DeliveryHarness) -> None:
    post.emit(post.trigger(post.receiver.url()), {"text": "x" * 300_000})
    post.turn()
    assert len(post.receiver.got[0].body) == 300_000 + len('{"text":""}')


def test_a_new_key_signs_what_is_sent_from_then_on(post: DeliveryHarness) -> None:
    post.clock.at = now()
    trigger = post.trigger(post.receiver.url("/", Mood(500)))
    post.emit(trigger)
    post.turn()
    old = post.key(trigger)
    with post.service.store.write() as tx:
        endpoints.regenerate_key(tx, post.service, post.endpoint(trigger))
    post.clock.advance(10_000)
    post.turn()
    first, second = post.receiver.got
    assert Webhook(old).verify(first.body, first.headers)
    assert Webhook(post.key(trigger)).verify(second.body, second.headers)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert old != post.key(trigger)


def _attempt(post: DeliveryHarness, url: str, deadline_s: float = DEADLINE_S) -> tuple[Outcome, float]:
    post.emit(post.trigger(url))
    began = time.monotonic()
    (outcome,) = post.turn(deadline_s=deadline_s)
    took = time.monotonic() - began
    assert all(one.path != "/inside" for one in post.receiver.got)
    return outcome, took


def test_the_built_in_third_party_is_open_at_its_receiver_only(post: DeliveryHarness) -> None:
    port = post.receiver.server_address[1]
    settings = replace(post.service.settings, sandbox=True, public_url="http://127.0.0.1:1", sandbox_port=port)
    outbound = OutboundClient(Guard(), user_agent="Test")
    post.service = replace(post.service, settings=settings, outbound=outbound)
    for path in ("/receiver", "/receiver/mine", "/api/tasks", "/receiver/../api", "/receivers"):
        _attempt(post, post.receiver.url(path))
    assert sorted({one.path for one in post.receiver.got}) == ["/receiver", "/receiver/mine"]


def test_one_endpoint_has_half_and_the_others_the_rest() -> None:
    bodies = LargeBodies(100, wait_s=0.01)
    with ExitStack() as held:
        held.enter_context(bodies.room("hangs", 30))
        held.enter_context(bodies.room("hangs", 20))
        with pytest.raises(Unavailable), bodies.room("hangs", 1):
            pass
        with bodies.room("other", 50), pytest.raises(Unavailable), bodies.room("third", 1):
            pass
    with bodies.room("hangs", 50):
        pass


def test_a_body_larger_than_the_bound_is_sent_on_its_own() -> None:
    bodies = LargeBodies(100, wait_s=0.01)
    both = bodies.room("one", 10_000), bodies.room("two", 10_000)
    with both[0], both[1], pytest.raises(Unavailable), bodies.room("three", 10_000):
        pass


def test_a_sender_that_waits_continues_when_there_is_room() -> None:
    bodies, went = LargeBodies(100, wait_s=10), threading.Event()

    def wait() -> None:
        with bodies.room("one", 50):
            went.set()

    thread = threading.Thread(target=wait)
    with bodies.room("one", 50):
        thread.start()
        assert not went.wait(0.05)
    assert went.wait(5)
    thread.join()
