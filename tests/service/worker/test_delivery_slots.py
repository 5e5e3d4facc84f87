"""Senders are left for endpoints that answer, however many others hang."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from webapp.service.domain.deliveries.claims import Task
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.projects import Scene
from webapp.service.worker.delivery_slots import (
    FIRST_SLOTS,
    IN_PENALTY,
    PER_ENDPOINT,
    SENDERS,
    SLOW_PER_ENDPOINT,
    SLOW_S,
    SLOW_SENDERS,
    DeliverySlots,
)

NUMBERS = iter(range(10**9))


class Clock:
    now = 1_000.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    yield clock
    monkeypatch.undo()


def endpoint(name: str, state: str = "happy") -> Endpoint:
    return Endpoint(name, "proj_1", "development", "trigger", "https://e.example/", 0, 0, 0, state=state)


def task(at: Endpoint) -> Task:
    return Task(f"dlv_{next(NUMBERS)}", "evt_1", None, Scene("proj_1", "development"), at, 1, 0, 0, b"{}")


def claim(places: DeliverySlots, *endpoints: Endpoint) -> list[list[Task]]:
    """One turn: each of the endpoints, with more than enough due, gets what it has room for."""
    places.look()
    claimed: list[list[Task]] = []
    for at in endpoints:
        free = places.room(at, sum(map(len, claimed)))
        claimed.append([task(at) for _ in range(max(free, 0))])
    for tasks in claimed:
        places.take(tasks)
    return claimed


def test_one_alone_gets_its_share_and_no_more(clock: Clock) -> None:
    places, only = DeliverySlots(), endpoint("only")
    ((*tasks,),) = claim(places, only)
    assert len(tasks) == places.busy == PER_ENDPOINT
    assert claim(places, only) == [[]]
    places.arrive(tasks[0])
    assert places.busy == PER_ENDPOINT - 1 and claim(places, only) == [[]], "not before it is written down"
    places.leave(tasks[0])
    assert len(claim(places, only)[0]) == 1


def test_five_that_hang_leave_first_places_to_the_others_at_once_and_all_of_the_senders_soon(clock: Clock) -> None:
    places, hanging = DeliverySlots(), [endpoint(f"h{n}") for n in range(5)]
    others = [endpoint(f"o{n}") for n in range(45)]
    for _ in range(10):
        claim(places, *hanging)
    first = claim(places, *others)
    assert [len(tasks) for tasks in first[:5]] == [FIRST_SLOTS] * 5
    clock.now += SLOW_S / 2
    for tasks in first:
        for one in tasks:
            places.leave(one)
    clock.now += SLOW_S
    for _ in range(10):
        claim(places, *hanging)
    assert claim(places, others[0])[0] != [] and len(claim(places, others[1])[0]) >= FIRST_SLOTS
    assert all(places._taken[at.id] <= PER_ENDPOINT for at in hanging)


def test_a_slow_endpoint_continues_with_fewer_beside_the_senders(clock: Clock) -> None:
    places, slow = DeliverySlots(), endpoint("slow")
    ((*tasks,),) = claim(places, slow)
    clock.now += 2 * SLOW_S
    for one in tasks[: PER_ENDPOINT - 2]:
        places.leave(one)
    assert len(claim(places, slow)[0]) == SLOW_PER_ENDPOINT - 2
    places.look()
    assert places.room(endpoint("other"), 0) == PER_ENDPOINT


def test_there_is_an_end_to_those_that_hang(clock: Clock) -> None:
    places = DeliverySlots()
    for n in range(500):
        claim(places, endpoint(f"h{n}"))
        clock.now += SLOW_S / 10
    assert places.busy == SENDERS + SLOW_SENDERS


def test_an_endpoint_in_penalty_is_tried_by_one(clock: Clock) -> None:
    places, failing = DeliverySlots(), endpoint("failing")
    assert len(claim(places, replace(failing, state="penalty"))[0]) == IN_PENALTY
    assert claim(places, replace(failing, state="penalty")) == [[]]


def test_a_deleted_delivery_takes_no_slot(clock: Clock) -> None:
    places, at = DeliverySlots(), endpoint("a")
    ((*tasks,),) = claim(places, at)
    for one in tasks:
        places.leave(one)
        places.arrive(one)
    assert places.busy == 0 and len(claim(places, at)[0]) == PER_ENDPOINT
