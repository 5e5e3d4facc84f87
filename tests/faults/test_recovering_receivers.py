"""Fault 2: an endpoint that recovers drains what waited for it steadily, oldest first, beside what is new.

What decides is that all arrive without a pause of minutes, and in which order. Rates and delays are printed.
"""

import os
import sys
import time
from itertools import pairwise

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Got, Mood
from tests.faults.running import until_more
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.service.worker.delivery_slots import PER_ENDPOINT

FULL = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6") >= 100
WAITING = 10_000 if FULL else 3_000
AT_ONCE = 500
NEW_EVERY_S = 0.1

pytestmark = [pytest.mark.faults, pytest.mark.alone]


def test_ten_thousand_that_waited(post: DeliveryHarness, capsys: pytest.CaptureFixture[str]) -> None:
    engine, trigger = DeliveryEngine(post.service), post.trigger(post.receiver.url("/bad", Mood(500)))
    engine.start()
    try:
        for start in range(0, WAITING, AT_ONCE):
            post.emit(trigger, *(f"old {n}" for n in range(start, start + AT_ONCE)))
            engine.wake()
        until_more(lambda: WAITING - due(post), WAITING)
        post.receiver.moods.clear()
        post.receiver.got.clear()
        sent: dict[str, float] = {}
        while not post.receiver.got or waiting(post):
            name = f"new {len(sent)}"
            sent[name] = time.monotonic()
            post.emit(trigger, name)
            engine.wake()
            time.sleep(NEW_EVERY_S)
            assert time.monotonic() - post_last(post, sent) < 60, f"{len(old(post))} of {WAITING}"
        until_more(lambda: len(new(post)), len(sent))
    finally:
        engine.stop(5.0)
    failed = [row for row in post.rows() if row["attempt"] > 1 or (row["attempt"] and row["status"] == "waiting")]
    tried = {row["event_id"] for row in failed}  # they have times of their own
    arrivals = untried(post, tried)
    numbers = [int(name_of(one).split()[1]) for one in arrivals]
    first, last = arrivals[0].at, arrivals[-1].at
    gap = max(later.at - earlier.at for earlier, later in pairwise(arrivals))
    arrived_at = {name_of(one): one.at for one in new(post)}
    delays = sorted(arrived_at[name] - at for name, at in sent.items() if at > first)
    moved = max(abs(place - rank) for rank, place in enumerate(sorted(range(len(numbers)), key=numbers.__getitem__)))
    rate, median, p99 = len(arrivals) / (last - first), delays[len(delays) // 2], delays[int(len(delays) * 0.99)]
    with capsys.disabled():
        print(
            f"\n{len(arrivals)} that waited were drained in {last - first:.1f} s ({rate:.0f}/s), the longest pause "
            f"{gap:.2f} s, out of order by at most {moved}; {len(delays)} new ones beside them arrived after "
            f"{median:.2f} s in the median, {p99:.2f} s at p99",
            file=sys.stderr,
        )
    assert moved <= 2 * PER_ENDPOINT
    assert {row["status"] for row in post.rows() if row["event_id"] not in tried} == {"delivered"}


def due(post: DeliveryHarness) -> int:
    """How many are due or on their way."""
    rows = post.service.store.tuples(
        "SELECT COUNT(*) FROM deliveries WHERE next_at <= :now", {"now": post.service.clock()}
    )
    return int(rows[0][0])


def waiting(post: DeliveryHarness) -> int:
    """How many were not tried yet."""
    rows = post.service.store.tuples("SELECT COUNT(*) FROM deliveries WHERE status = 'waiting' AND attempt = 0")
    return int(rows[0][0])


def post_last(post: DeliveryHarness, sent: dict[str, float]) -> float:
    """When something arrived last, or the first was sent."""
    return post.receiver.got[-1].at if post.receiver.got else next(iter(sent.values()))


def name_of(one: Got) -> str:
    return one.body.decode().strip('"')


def old(post: DeliveryHarness) -> list[Got]:
    return [one for one in list(post.receiver.got) if one.body.startswith(b'"old')]


def untried(post: DeliveryHarness, tried: set[str]) -> list[Got]:
    """Those that had to wait without having been sent before."""
    return [one for one in old(post) if one.headers["webhook-id"] not in tried]


def new(post: DeliveryHarness) -> list[Got]:
    return [one for one in list(post.receiver.got) if one.body.startswith(b'"new')]
