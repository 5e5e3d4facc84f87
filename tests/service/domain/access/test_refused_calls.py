"""Calls beyond a limit: counted in memory, added up over processes, and forgotten."""

from unittest.mock import Mock

import pytest

from webapp.audit import Actor
from webapp.errors import Unavailable
from webapp.kit.clock import HOUR, MINUTE, FakeClock
from webapp.service.domain.access import refused_calls
from webapp.service.domain.access.refused_calls import RefusedCalls
from webapp.service.domain.base.service import Service

SERVER, ALICE = Actor("client", "oc_server"), Actor("user", "alice")
KEY = "accounts|proj_1|development"


def lately(service: Service, key: str = KEY) -> RefusedCalls:
    return refused_calls.lately(service, [key])[key]


def test_who_made_all_of_them_is_reported(service: Service) -> None:
    for actor in (SERVER, SERVER):
        refused_calls.note(service, KEY, actor)
    assert lately(service) == RefusedCalls(2, SERVER)
    refused_calls.note(service, KEY, ALICE)
    assert lately(service) == RefusedCalls(3)
    assert lately(service, "tools|proj_1|development") == RefusedCalls()


def test_nothing_is_written_while_calls_are_answered(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.store, "write", lambda: pytest.fail("a call waited for the store"))
    refused_calls.note(service, KEY, SERVER)
    monkeypatch.undo()
    assert lately(service).count == 1


def test_what_another_process_wrote_is_added_up(service: Service) -> None:
    refused_calls.note(service, KEY, SERVER)
    refused_calls.flush(service)
    with service.store.write() as tx:
        tx.run("UPDATE refused_calls SET n = n + 5")
    refused_calls.note(service, KEY, SERVER)
    assert lately(service) == RefusedCalls(7, SERVER)


def test_they_are_forgotten_after_an_hour(service: Service, clock: FakeClock) -> None:
    refused_calls.note(service, KEY, SERVER)
    clock.advance(HOUR - 5 * MINUTE)
    refused_calls.note(service, KEY, SERVER)
    assert lately(service).count == 2 and refused_calls.purge(service) == 0
    clock.advance(10 * MINUTE)
    assert lately(service).count == 1 and refused_calls.purge(service) == 1
    assert lately(service).count == 1 and refused_calls.purge(service) == 0


def test_a_busy_store_loses_none(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> None:
        raise Unavailable

    refused_calls.note(service, KEY, SERVER)
    monkeypatch.setattr(service.store, "write", busy)
    refused_calls.flush(service)
    monkeypatch.undo()
    assert lately(service).count == 1


def test_those_of_several_limits_are_looked_up_at_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "tools|proj_1|development"
    for key, actor in ((KEY, SERVER), (other, ALICE), (other, ALICE), ("tokens|proj_1|development", ALICE)):
        refused_calls.note(service, key, actor)
    refused_calls.flush(service)
    queries = Mock(wraps=service.store.all)
    monkeypatch.setattr(service.store, "all", queries)
    assert refused_calls.lately(service, [KEY, other, "none"]) == {
        KEY: RefusedCalls(1, SERVER), other: RefusedCalls(2, ALICE), "none": RefusedCalls(),
    }  # fmt: skip
    assert queries.call_count == 1
    assert refused_calls.lately(service, []) == {}
