"""The engine: at once, side by side, none held up by another, stopped without losing anything."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.receiver import Mood
from webapp.kit.clock import now
from webapp.service.domain.base import leases
from webapp.service.domain.deliveries import deliveries
from webapp.service.domain.deliveries.sender import DEADLINE_S
from webapp.service.worker import delivery_engine
from webapp.service.worker.delivery_engine import DeliveryEngine
from webapp.store.contract import Reader


@contextmanager
def running(post: DeliveryHarness, grace_s: float = 5.0, **options: float) -> Iterator[DeliveryEngine]:
    engine = DeliveryEngine(post.service, **options)  # type: ignore[arg-type]
    engine.start()
    try:
        yield engine
    finally:
        engine.stop(grace_s)


@pytest.fixture
def live(post: DeliveryHarness) -> DeliveryHarness:
    """The same with the wall clock, which an engine sleeps by."""
    post.service = replace(post.service, clock=now)
    return post


def until(done: Callable[[], bool], seconds: float = 15.0) -> None:
    ends = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < ends, "it took too long"
        time.sleep(0.005)


def statuses(post: DeliveryHarness) -> set[str]:
    return {row["status"] for row in post.rows()}


def test_it_wakes_at_once(live: DeliveryHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_engine, "LONGEST_SLEEP_S", 60.0)
    trigger = live.trigger(live.receiver.url())
    with running(live) as engine:
        time.sleep(0.2)  # asleep by now, for a minute
        live.emit(trigger)
        engine.wake()
        until(lambda: bool(live.receiver.got))
    assert statuses(live) == {"delivered"}


def test_without_a_bell_it_looks_by_itself(live: DeliveryHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_engine, "LONGEST_SLEEP_S", 0.25)
    trigger = live.trigger(live.receiver.url())
    with running(live):
        time.sleep(0.1)
        live.emit(trigger)
        until(lambda: statuses(live) == {"delivered"})


@pytest.mark.faults
def test_a_thousand_are_delivered_once_each(live: DeliveryHarness) -> None:
    triggers = [live.trigger(live.receiver.url(f"/{n}")) for n in range(4)]
    with running(live) as engine:
        for trigger in triggers:
            live.emit(trigger, *range(250))
            engine.wake()
        until(lambda: statuses(live) == {"delivered"}, 30.0)
    assert len(live.receiver.got) == 1000
    assert len({one.headers["webhook-id"] for one in live.receiver.got}) == 1000


def test_one_that_hangs_holds_up_nobody(live: DeliveryHarness) -> None:
    hanging = live.trigger(live.receiver.url("/hangs", Mood(trick="hang")))
    others = [live.trigger(live.receiver.url(f"/{n}")) for n in range(20)]
    with running(live, grace_s=0.2, deadline_s=30.0) as engine:
        live.emit(hanging, *range(100))
        engine.wake()
        until(lambda: len(live.receiver.of("/hangs")) >= 8)
        for trigger in others:
            live.emit(trigger)
        engine.wake()
        until(lambda: len([one for one in live.receiver.got if one.path != "/hangs"]) == 20)
        assert len(live.receiver.of("/hangs")) <= 16
        live.receiver.closing.set()


def test_a_failure_is_tried_again(live: DeliveryHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.service.domain.deliveries.retry.SCHEDULE", (0, 300, 300))
    trigger = live.trigger(live.receiver.url("/", Mood(500)))
    with running(live) as engine:
        live.emit(trigger)
        engine.wake()
        until(lambda: len(live.receiver.got) == 1)
        live.receiver.moods.clear()
        until(lambda: statuses(live) == {"delivered"})
    assert live.row()["attempt"] == 2


def test_stopping_lets_what_is_on_its_way_end_and_writes_it_down(live: DeliveryHarness) -> None:
    trigger = live.trigger(live.receiver.url("/", Mood(trick="hang")))
    engine = DeliveryEngine(live.service)
    engine.start()
    live.emit(trigger)
    engine.wake()
    until(lambda: bool(live.receiver.got))
    threading.Timer(0.3, live.receiver.closing.set).start()
    engine.stop(5.0)
    assert engine.busy == 0
    assert live.row()["lease_until"] == 0
    assert "broke the connection off" in live.row()["last_error"]


def test_what_does_not_end_in_time_is_due_again_later(live: DeliveryHarness) -> None:
    trigger = live.trigger(live.receiver.url("/", Mood(trick="hang")))
    engine = DeliveryEngine(live.service)
    engine.start()
    live.emit(trigger)
    engine.wake()
    until(lambda: bool(live.receiver.got))
    began = time.monotonic()
    engine.stop(0.3)
    assert time.monotonic() - began < 15.0  # the receiver hangs for a minute
    assert live.row()["status"] == "waiting"
    assert live.row()["next_at"] == live.row()["lease_until"] > now()
    live.receiver.closing.set()
    until(lambda: engine.busy == 0)


def test_a_locked_store_loses_no_result(live: DeliveryHarness, data: Path) -> None:
    trigger = live.trigger(live.receiver.url())
    with running(live) as engine:
        live.emit(trigger)
        with live.service.store.write() as tx:
            tx.one("SELECT 1 AS one")
            engine.wake()
            time.sleep(0.3)
        until(lambda: statuses(live) == {"delivered"})


def test_an_idle_engine_sleeps(live: DeliveryHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int | None] = []
    due = deliveries.next_due_at

    def counted(reader: Reader, after: int | None = None) -> int | None:
        asked.append(after)
        return due(reader, after)

    monkeypatch.setattr(delivery_engine, "LONGEST_SLEEP_S", 0.25)
    with running(live):
        time.sleep(0.1)
        monkeypatch.setattr(deliveries, "next_due_at", counted)
        time.sleep(0.5)
        assert len(asked) <= 2 * 3  # twice a turn, four turns a second


def test_the_lease_outlives_the_request() -> None:
    assert leases.DELIVERY >= (DEADLINE_S + 5) * 1000
