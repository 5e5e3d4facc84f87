"""How long events are kept: by age and by number of each trigger, and never while they wait to be delivered.

Events of PostgreSQL go by whole months: with their counts, once all of a month is too old, but not what waits.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import psycopg
import pytest

from tests.fakes.deployed import emit, plant_trigger
from tests.once import postgres as databases
from webapp.kit.clock import DAY, HOUR, FakeClock
from webapp.kit.crypto import ordered_id
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import events, stats
from webapp.service.domain.instance import event_retention, instance_key
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.months import number_of, start_of
from webapp.store.postgres.months import PostgresMonths
from webapp.store.postgres.store import PostgresStore

FEBRUARY, MARCH = start_of(number_of("2025_02")), start_of(number_of("2025_03"))
TOO_OLD = MARCH + 30 * DAY
HOOK = "https://hooks.example/a"
Emit = Callable[..., DeployedTrigger]


def bodies(service: Service, trigger: DeployedTrigger) -> list[bytes | None]:
    return [event.body for event in events.page_of_trigger(service.store, trigger.id)]


def test_events_go_when_they_are_too_old(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = plant_trigger(service, scene)
    emit(service, trigger, "old")
    clock.advance(service.settings.event_days * DAY)
    emit(service, trigger, "new")
    assert event_retention.purge(service) == 0
    clock.advance(1)
    assert event_retention.purge(service) == 1
    assert bodies(service, trigger) == [b'"new"']


def test_each_trigger_keeps_its_newest(service: Service, scene: Scene, clock: FakeClock) -> None:
    few = replace(service, settings=replace(service.settings, events_kept=2))
    crowded, other = plant_trigger(service, scene), plant_trigger(service, scene)
    emit(few, other, "other")
    for number in range(4):
        clock.advance(1)
        emit(few, crowded, number)
    assert event_retention.purge(few) == 2
    assert (bodies(few, crowded), bodies(few, other)) == ([b"3", b"2"], [b'"other"'])
    assert event_retention.purge(few) == 0


def test_what_waits_is_never_forgotten(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = plant_trigger(service, scene, ["https://hooks.example/a"])
    emit(service, trigger, "waits")
    clock.advance(365 * DAY)
    assert event_retention.purge(service) == 0
    assert bodies(service, trigger) == [b'"waits"']


def test_many_go_a_few_at_a_time(
    service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_retention, "AT_ONCE", 2)
    trigger = plant_trigger(service, scene)
    emit(service, trigger, *range(5))
    clock.advance(365 * DAY)
    assert event_retention.purge(service) == 5
    assert bodies(service, trigger) == []


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a database with the tables of two months of last year."""
    name = databases.new()
    yield databases.url(name)
    databases.drop(name)


@pytest.fixture
def by_months(service: Service, url: str) -> Iterator[Service]:
    """A service over that database, in February."""
    store = PostgresStore(url, connections=4)
    store.months.make(FEBRUARY, MARCH)
    clock = FakeClock(FEBRUARY + HOUR)
    yield replace(service, store=store, clock=clock, keys=instance_key.proven(service.settings, store, clock))
    store.close()


@pytest.fixture
def month_scene(by_months: Service) -> Scene:
    return Scene(projects.create(by_months, name="Acme").id, "development")


@pytest.fixture
def february(by_months: Service, month_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Emit:
    """Has a trigger emit in February."""

    def emitting(*found: object, urls: tuple[str, ...] = (HOOK,), delivered: bool = True) -> DeployedTrigger:
        trigger = plant_trigger(by_months, month_scene, urls)
        with monkeypatch.context() as patched:
            patched.setattr(time, "time_ns", lambda: by_months.clock() * 1_000_000)
            emit(by_months, trigger, *found)
        if delivered:
            with by_months.store.write() as tx:
                tx.run(
                    "UPDATE deliveries SET status = 'delivered', next_at = NULL WHERE trigger_id = :id",
                    {"id": trigger.id},
                )
                stats.moved(tx, [(trigger.id, "waiting", "delivered")] * len(found) * len(urls))
        return trigger

    return emitting


def kept(service: Service, trigger: DeployedTrigger) -> tuple[int, int, int]:
    """How many events, deliveries and bytes of a trigger there are, as they are counted."""
    return (
        events.count_of_trigger(service.store, trigger.id),
        stats.count(service.store, trigger.id),
        stats.kept_bytes(service.store, trigger.id, trigger.external_user_id)[0],
    )


def purge(service: Service, at: int) -> int:
    """What is forgotten at a time."""
    return event_retention.purge(replace(service, clock=FakeClock(at)))


def months(service: Service) -> list[str]:
    assert service.store.months is not None
    return [month.name for month in service.store.months.existing()][:2]


def test_a_month_goes_as_a_whole_with_its_counts(by_months: Service, february: Emit) -> None:
    trigger, removed = february("old", "older"), february("gone")
    emit(replace(by_months, clock=FakeClock(TOO_OLD)), trigger, "new")  # its id is of today
    assert kept(by_months, trigger) == (3, 3, 17)
    with by_months.store.write() as tx:
        tx.run("DELETE FROM deployed_triggers WHERE id = :id", {"id": removed.id})
        stats.forget(tx, removed.id)
    assert purge(by_months, TOO_OLD - 1) == 0 and kept(by_months, trigger) == (3, 3, 17)
    assert purge(by_months, TOO_OLD) == 2
    assert months(by_months)[0] == "2025_03"
    assert kept(by_months, trigger) == (1, 1, 5)
    assert by_months.store.tuples("SELECT 1 FROM counters WHERE n < 0") == []


def test_who_keeps_less_than_a_month_has_each_deleted_when_it_is_old(by_months: Service, february: Emit) -> None:
    few = replace(by_months, settings=replace(by_months.settings, event_days=27))
    trigger = february("old")
    assert purge(few, FEBRUARY + 27 * DAY + HOUR + 1) == 1
    assert kept(few, trigger) == (0, 0, 0) and months(few)[0] == "2025_02"
    assert purge(few, MARCH + 27 * DAY) == 0 and months(few)[0] == "2025_03"


def test_what_still_waits_stays_and_the_rest_of_its_month_goes(by_months: Service, february: Emit) -> None:
    waiting, done = february("waits", delivered=False), february("done", "too")
    assert purge(by_months, TOO_OLD) == 2
    assert (kept(by_months, waiting), kept(by_months, done)) == ((1, 1, 7), (0, 0, 0))
    assert months(by_months)[0] == "2025_02"


def test_an_event_of_midnight_goes_with_its_delivery_of_the_next_month(by_months: Service, february: Emit) -> None:
    trigger = february("old", "midnight")
    with by_months.store.write() as tx:
        ((delivery,),) = tx.tuples("SELECT MAX(id) FROM deliveries WHERE trigger_id = :id", {"id": trigger.id})
        tx.run("UPDATE deliveries SET id = :new WHERE id = :id", {"id": delivery, "new": ordered_id("dlv")})
    purge(by_months, TOO_OLD)
    assert kept(by_months, trigger) == (0, 0, 0) and months(by_months)[0] == "2025_03"


def test_one_that_was_interrupted_is_finished(
    by_months: Service, february: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = february("old", "older")
    with monkeypatch.context() as patched:
        patched.setattr(PostgresMonths, "drop", _die)
        with pytest.raises(KeyboardInterrupt):
            purge(by_months, TOO_OLD)
    assert kept(by_months, trigger) == (0, 2, 12)
    assert purge(by_months, TOO_OLD) == 2
    assert kept(by_months, trigger) == (0, 0, 0) and months(by_months)[0] == "2025_03"


def test_one_that_others_read_goes_later_and_none_of_it_is_deleted(
    by_months: Service, february: Emit, url: str
) -> None:
    trigger = february("old")
    with psycopg.connect(url) as reader:
        reader.execute("SELECT 1 FROM events")
        assert purge(by_months, TOO_OLD) == 0
    assert kept(by_months, trigger)[0] == 1
    assert purge(by_months, TOO_OLD) == 1


def _die(*_: object) -> None:
    raise KeyboardInterrupt
