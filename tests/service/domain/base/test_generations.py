"""Who is dead is known at once where a lock tells, and after a few missed heartbeats elsewhere."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.service.domain.conftest import Bench
from webapp.errors import Conflict
from webapp.kit.clock import SECOND, Clock
from webapp.service.domain.base import generations
from webapp.service.domain.base.service import Service
from webapp.store.lock_files import LifeLock


@dataclass
class Shared:
    """A store of several machines: the same, but for a folder."""

    store: Any
    folder: None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.fixture(autouse=True)
def lives_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No heartbeat of a test goes on in the next one, whose store is another."""
    begin, begun = generations.begin, list[LifeLock]()

    def remembered(store: Any, clock: Clock) -> LifeLock:
        begun.append(begin(store, clock))
        return begun[-1]

    monkeypatch.setattr(generations, "begin", remembered)
    yield
    for life in begun:
        life.end()


def another(service: Service) -> Service:
    """The service of another process."""
    return replace(service, life=generations.begin(service.store, service.clock))


def beat(service: Service) -> None:
    assert isinstance(service.life, generations.Heartbeat)
    service.life.beat()


def beat_for(bench: Bench, duration: int, *services: Service) -> None:
    """Let time pass in which all of ``services`` live."""
    for _ in range(duration // generations.HEARTBEAT):
        bench.clock.advance(generations.HEARTBEAT)
        for service in services:
            beat(service)


def threads_of_pulses() -> int:
    return [thread.name for thread in threading.enumerate()].count("pulse")


def test_each_life_has_the_next_number_and_none_comes_again(bench: Bench) -> None:
    service = bench.service
    first, second = another(service), another(service)
    assert service.generation < first.generation < second.generation
    for dead in (first, second):
        with service.store.write() as tx:
            assert not generations.bury(tx, service, dead.generation), "it lives"
            assert generations.forget(tx, dead.generation)
            assert not generations.forget(tx, dead.generation), "another process was quicker"
        assert dead.life is not None
        dead.life.end()
    assert another(service).generation > second.generation
    assert replace(service, life=None).generation == 0


@pytest.mark.embedded
def test_on_one_machine_a_lock_tells(bench: Bench) -> None:
    service = bench.service
    other = another(service)
    bench.clock.advance(generations.MISSED * 100)
    assert generations.dead(service) == generations.dead(other) == []
    assert other.life is not None
    other.life.end()
    assert generations.dead(service) == [other.generation]


def test_on_several_machines_a_heartbeat_tells(bench: Bench) -> None:
    service = replace(bench.service, store=Shared(bench.service.store))
    one, two = another(service), another(service)
    beat_for(bench, generations.HEARTBEAT * 10, one, two)
    bench.clock.advance(generations.HEARTBEAT)
    beat(one)
    assert service.generation in generations.dead(one), "it never beat"
    assert two.generation not in generations.dead(one)
    beat_for(bench, generations.MISSED, one)
    assert two.generation in generations.dead(one) and one.generation not in generations.dead(two)
    assert generations.MISSED + generations.HEARTBEAT < 18 * SECOND


def test_who_was_thought_dead_lives_again(bench: Bench) -> None:
    service = replace(bench.service, store=Shared(bench.service.store))
    one, two = another(service), another(service)
    with service.store.write() as tx:
        generations.forget(tx, two.generation)
    beat(two)
    beat_for(bench, 4 * generations.HEARTBEAT, one)
    with service.store.write() as tx:
        assert generations.dead(one) == [service.generation, two.generation]
        assert generations.bury(tx, one, service.generation)
        tx.run("UPDATE generations SET seen_at = :now WHERE n = :n", {"now": bench.clock(), "n": two.generation})
        assert not generations.bury(tx, one, two.generation), "it was heard while the lock was waited for"


def test_after_the_store_was_away_nobody_buries_those_that_live(bench: Bench) -> None:
    service = replace(bench.service, store=Shared(bench.service.store))
    one, two, dead = another(service), another(service), another(service)
    beat_for(bench, 10 * generations.HEARTBEAT, one, two, dead)
    bench.clock.advance(generations.MISSED)  # nobody could write
    assert generations.dead(one) == []
    beat(one)
    assert generations.dead(one) == []
    beat(two)
    silent = [service.generation, dead.generation]
    beat_for(bench, generations.MISSED, one, two)
    assert generations.dead(one) == generations.dead(two) == []
    beat_for(bench, 2 * generations.HEARTBEAT, one, two)
    assert [n for n in generations.dead(one) if n in silent] == silent
    assert not {one.generation, two.generation} & {*generations.dead(one), *generations.dead(two)}


def test_a_heartbeat_that_waited_says_nothing_after_the_end(bench: Bench) -> None:
    store = Shared(bench.service.store)
    life = generations.begin(store, bench.clock)
    assert isinstance(life, generations.Heartbeat)
    life.end()
    with store.write() as tx:
        assert generations.forget(tx, life.number)
    life.beat()
    assert store.one("SELECT 1 FROM generations WHERE n = :n", {"n": life.number}) is None


def test_a_number_that_could_not_be_written_has_no_pulse(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "_SEEN", "nonsense")
    before = threads_of_pulses()
    with pytest.raises(Exception, match="nonsense"):
        generations.begin(Shared(bench.service.store), bench.clock)
    assert threads_of_pulses() == before


def test_a_shared_store_has_a_pulse(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    service = replace(bench.service, store=Shared(bench.service.store))
    monkeypatch.setattr(generations, "HEARTBEAT", 10)
    beats = threading.Semaphore(0)
    monkeypatch.setattr(generations.Heartbeat, "beat", lambda _: beats.release())
    before = threads_of_pulses()
    one = another(service)
    assert threads_of_pulses() == before + 1
    assert beats.acquire(timeout=5) and beats.acquire(timeout=5)
    assert one.life is not None
    one.life.end()
    assert threads_of_pulses() == before


def test_one_that_is_alone_finds_nobody_else_alive(bench: Bench) -> None:
    store = Shared(bench.service.store)
    generations.begin(store, bench.clock).end()
    with pytest.raises(Conflict, match="on every machine"):
        generations.refuse_living(store, bench.clock)
    bench.clock.advance(generations.MISSED)
    generations.refuse_living(store, bench.clock)
    generations.refuse_living(bench.service.store, bench.clock)
