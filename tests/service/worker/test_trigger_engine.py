"""The trigger engine: what is due begins at once, a failure stops nothing else, it sleeps while nothing is due."""

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.fakes.triggers import deploy, emitted, request_of, row, summaries
from webapp.kit.clock import DAY, MINUTE, SECOND, FakeClock, now
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, fire, inbox, lifecycle, renewal, subscriptions
from webapp.service.worker import trigger_engine
from webapp.service.worker.trigger_engine import TriggerEngine


@pytest.fixture
def run(service: Service) -> Iterator[Callable[..., TriggerEngine]]:
    """Starts engines, and stops them."""
    started: list[TriggerEngine] = []

    def start(**changes: Any) -> TriggerEngine:
        started.append(TriggerEngine(replace(service, **changes)))
        started[-1].start()
        return started[-1]

    yield start
    for engine in started:
        engine.stop(5)


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait for ``condition``."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.02)


def turned(engine: TriggerEngine) -> None:
    """One turn, and all that it began."""
    engine.turn()
    until(lambda: not engine.busy)


def test_a_turn_with_nothing_due_takes_no_write_lock(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = TriggerEngine(service)
    deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 60}})
    deploy(service, scene)
    turned(engine)  # the first look at the source
    monkeypatch.setattr(type(service.store), "write", lambda _: pytest.fail("something was written"))
    turned(engine)


def test_what_is_to_be_renewed_is_renewed_by_one(
    service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger, renewed = deploy(service, scene), list[str]()
    monkeypatch.setattr(renewal, "renew", lambda service, claimed: renewed.append(claimed.trigger_id))
    with service.store.write() as tx:
        subscriptions.set_end(tx, trigger.id, clock.at, clock.at)
    engines = TriggerEngine(service), TriggerEngine(service)
    for engine in engines:
        turned(engine)
    assert renewed == [trigger.id]
    assert engines[0].pause_s() == trigger_engine.LONGEST_SLEEP_S


def test_timers_polls_and_requests_are_run(service: Service, scene: Scene, clock: FakeClock) -> None:
    engine = TriggerEngine(service)
    timer = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 1}})
    poll, echo = deploy(service, scene), deploy(service, scene, "~/echo")
    for number in range(3):
        inbox.add(service, echo, request_of({"id": number}))
    clock.advance(SECOND)
    for _ in range(3):
        turned(engine)
    assert len(emitted(service, timer)) == 1
    assert summaries(service, poll) == ["Was there before", "Number 1"]
    assert [one["e"] for one in emitted(service, echo)] == ['{"id":0}', '{"id":1}', '{"id":2}']
    assert service.store.one("SELECT COUNT(*) AS n FROM trigger_inbox") == {"n": 0}


def test_a_request_that_fails_is_tried_again_and_one_whose_account_is_dead_waits(
    service: Service, scene: Scene, clock: FakeClock, plant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = TriggerEngine(service)
    echo = deploy(service, scene, "~/echo")
    inbox.add(service, echo, request_of({"id": 1, "fail": True}))
    turned(engine)
    assert row(service, echo)["last_error"] == "It could not be read."
    (left,) = service.store.all("SELECT next_at, tries FROM trigger_inbox")
    assert left == {"next_at": clock.at + inbox.RETRIES_S[0] * SECOND, "tries": 1}
    monkeypatch.setattr(fire, "_why_waiting", lambda *_: "Its account needs you.")
    clock.at = left["next_at"]
    turned(engine)
    (left,) = service.store.all("SELECT next_at, tries FROM trigger_inbox")
    assert left == {"next_at": clock.at + MINUTE, "tries": 1}
    assert emitted(service, echo) == []


def test_it_sleeps_until_the_next_is_due(service: Service, scene: Scene, clock: FakeClock) -> None:
    engine = TriggerEngine(service)
    assert engine.pause_s() == trigger_engine.LONGEST_SLEEP_S
    deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 1}})
    clock.advance(600)
    assert engine.pause_s() == 0.4
    deploy(service, scene)
    assert engine.pause_s() == 0.01
    lifecycle.claim_polls(service, 1)
    assert engine.pause_s() == 0.4


def test_only_as_many_run_as_there_is_room_for(service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(5):
        deploy(service, scene)
    gate, running = threading.Event(), threading.Semaphore(0)

    def slow(*_: Any) -> None:
        running.release()
        gate.wait(10)

    monkeypatch.setattr(fire, "poll", slow)
    engine = TriggerEngine(service, runs=2)
    for _ in range(3):
        engine.turn()
    assert engine.busy == 2
    assert engine.pause_s() == trigger_engine.LONGEST_SLEEP_S
    engine.stop(0.1)  # what did not end in time is free for another worker at once
    assert len(lifecycle.claim_polls(service, 9)) == 5
    gate.set()
    until(lambda: not engine.busy)


def test_a_run_that_breaks_stops_no_other(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = deploy(service, scene), deploy(service, scene)
    poll = fire.poll

    def fragile(one: Service, trigger: Any) -> Any:
        if trigger.id == broken.id:
            raise RuntimeError("out of order")
        return poll(one, trigger)

    monkeypatch.setattr(fire, "poll", fragile)
    turned(TriggerEngine(service))
    assert summaries(service, sound) == ["Was there before", "Number 1"]
    assert "out of order" in caplog.text
    assert row(service, broken)["lease_until"] > 0  # due again when its lease is over


def test_a_clock_that_was_set_back_is_noticed(
    service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed: list[str] = []
    monkeypatch.setattr(TriggerEngine, "_renew", lambda _, claimed: renewed.append(claimed.trigger_id))
    timer = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 60}})
    engine = TriggerEngine(service)
    clock.advance(DAY)
    engine.turn()
    with service.store.write() as tx:
        subscriptions.set_end(tx, timer.id, clock.at + 3 * DAY, clock.at)
    clock.advance(-DAY)
    engine.turn()
    clock.advance(MINUTE)
    engine.turn()
    assert (len(emitted(service, timer)), renewed) == (2, [timer.id])


def test_the_engine_wakes_at_once_and_stops(
    service: Service, scene: Scene, run: Callable[..., TriggerEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trigger_engine, "LONGEST_SLEEP_S", 30.0)
    engine = run()
    time.sleep(0.1)  # it sleeps by now
    poll = deploy(service, scene)
    engine.wake()
    until(lambda: summaries(service, poll) == ["Was there before", "Number 1"])
    began = time.monotonic()
    engine.stop(5)
    assert time.monotonic() - began < 15  # it would have slept for longer


def test_turns_that_are_asked_for_are_some_time_apart(
    run: Callable[..., TriggerEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[float] = []
    monkeypatch.setattr(TriggerEngine, "turn", lambda _: began.append(time.monotonic()))
    engine = run()
    ends = time.monotonic() + 0.1
    while time.monotonic() < ends:
        engine.wake()
        time.sleep(0.001)
    assert 2 <= len(began) <= 7
    assert min(later - earlier for earlier, later in itertools.pairwise(began)) >= trigger_engine.APART_S * 0.99


FULL = int(os.environ.get("PATCHBAY_FAULT_KILLS") or "6") >= 100


@pytest.mark.faults
@pytest.mark.parametrize(("count", "spread_ms"), [(10_000, 0), (10_000, MINUTE) if FULL else (1_000, 6 * SECOND)])
def test_every_timer_of_many_starts_once(
    service: Service,
    scene: Scene,
    run: Callable[..., TriggerEngine],
    count: int,
    spread_ms: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """10,000 timers due in one minute, or even at one moment: all started within 60 s."""
    real = replace(service, clock=now)
    one = deploy(real, scene, "schedule-cron", given={"cron": {"cron": "0 0 29 2 *"}})  # not while the test runs
    whole = row(real, one)
    due = now() + 2 * SECOND
    names = ", ".join(whole)
    with service.store.write() as tx:
        tx.run("DELETE FROM deployed_triggers")
        for number in range(count):
            at = due + number * spread_ms // count
            values = {**whole, "id": f"ti_{number}", "name_slug": f"s{number}", "next_run_at": at}
            tx.run(
                f"INSERT INTO deployed_triggers ({names}) VALUES ({', '.join(':' + name for name in whole)})", values
            )
    run(clock=now)
    until(lambda: _started(service) == count, seconds=300)
    late = service.store.all(
        "SELECT (last_run_at - :due - CAST(SUBSTR(id, 4) AS INTEGER) * :spread / :count) AS late "
        "FROM deployed_triggers",
        {"due": due, "count": count, "spread": spread_ms},
    )
    found = sorted(one["late"] for one in late)
    with capsys.disabled():
        print(
            f"\n{count:,} timers due over {spread_ms // SECOND} s: half of them started within {found[count // 2]} ms, "
            f"all within {found[-1]} ms of their time (to reach < 60 s)",
            file=sys.stderr,
        )
    assert service.store.one("SELECT COUNT(*) AS n FROM events") == {"n": count}
    assert deployed_triggers.find(service.store, "ti_0") is not None


def _started(service: Service) -> int:
    found = service.store.one("SELECT COUNT(*) AS n FROM deployed_triggers WHERE last_run_at IS NOT NULL")
    return int(found["n"]) if found else 0
