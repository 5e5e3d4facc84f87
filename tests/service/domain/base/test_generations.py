"""Who is dead is known at once where a lock tells, and after a few missed heartbeats elsewhere."""

from dataclasses import dataclass, replace
from typing import Any

from tests.service.domain.conftest import Bench
from webapp.kit.clock import SECOND
from webapp.service.domain.base import generations
from webapp.service.domain.base.service import Service


@dataclass
class Shared:
    """A store of several machines: the same, but for a folder."""

    store: Any
    folder: None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


def another(service: Service) -> Service:
    """The service of another process."""
    return replace(service, sign=generations.begin(service.store, service.clock))


def test_each_life_has_the_next_number_and_none_comes_again(bench: Bench) -> None:
    service = bench.service
    first, second = another(service), another(service)
    assert service.generation < first.generation < second.generation
    for dead in (first, second):
        with service.store.write() as tx:
            assert generations.bury(tx, dead.generation)
            assert not generations.bury(tx, dead.generation), "another process was quicker"
        assert dead.sign is not None
        dead.sign.end()
    assert another(service).generation > second.generation
    assert replace(service, sign=None).generation == 0


def test_on_one_machine_a_lock_tells(bench: Bench) -> None:
    service = bench.service
    other = another(service)
    bench.clock.advance(generations.MISSED * 100)
    assert generations.dead(service) == generations.dead(other) == []
    assert other.sign is not None
    other.sign.end()
    assert generations.dead(service) == [other.generation]


def test_on_several_machines_a_heartbeat_tells(bench: Bench) -> None:
    service = replace(bench.service, store=Shared(bench.service.store))
    one, two = another(service), another(service)
    for _ in range(10):
        bench.clock.advance(generations.HEARTBEAT)
        generations.beat(one)
        generations.beat(two)
    bench.clock.advance(generations.HEARTBEAT)
    generations.beat(one)
    assert service.generation in generations.dead(one), "it never beat"
    assert two.generation not in generations.dead(one)
    bench.clock.advance(generations.MISSED - generations.HEARTBEAT)
    generations.beat(one)
    assert two.generation in generations.dead(one) and one.generation not in generations.dead(two)
    assert generations.MISSED + generations.HEARTBEAT < 18 * SECOND


def test_a_heartbeat_costs_nothing_where_a_lock_tells(bench: Bench) -> None:
    before = bench.service.store.all("SELECT * FROM generations")
    bench.clock.advance(generations.HEARTBEAT)
    generations.beat(bench.service)
    assert bench.service.store.all("SELECT * FROM generations") == before
