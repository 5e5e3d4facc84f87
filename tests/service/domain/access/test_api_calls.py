"""Calls of the API are kept within bounds, and end with their user."""

from dataclasses import replace

import pytest

from webapp.kit.clock import DAY, FakeClock
from webapp.kit.crypto import ordered_id
from webapp.service.domain.access import api_calls
from webapp.service.domain.access.api_calls import ApiCall
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene


@pytest.fixture
def call(service: Service, clock: FakeClock) -> ApiCall:
    made = projects.create(service, name="Acme", app_name="Acme", support_email="a@acme.example")
    scene = Scene(made.id, "development")
    return ApiCall(scene, "alice", "client", "oc_1", "GET", "/v1/x", {"id": 1}, 200, None, "r1", 5, clock())


def kept(service: Service) -> list[int]:
    return [status for (status,) in service.store.tuples("SELECT status FROM api_calls ORDER BY id")]


def again(call: ApiCall, **changes: object) -> ApiCall:
    return replace(call, id=ordered_id("call"), **changes)  # type: ignore[arg-type]


def test_a_burst_keeps_what_changed_or_failed_before_what_was_read(service: Service, call: ApiCall) -> None:
    for _ in range(api_calls.MOST_READS_AT_ONCE + 10):
        api_calls.note(service, again(call))
    api_calls.note(service, again(call, status=404))
    api_calls.note(service, again(call, method="POST"))
    api_calls.flush(service)
    assert sorted(kept(service)) == [200] * (api_calls.MOST_READS_AT_ONCE + 1) + [404]
    for _ in range(api_calls.MOST_AT_ONCE + 10):
        api_calls.note(service, again(call, status=500))
    assert not api_calls.has_room(service)
    api_calls.flush(service)
    assert kept(service).count(500) == api_calls.MOST_AT_ONCE and api_calls.has_room(service)


def test_old_calls_and_all_but_the_newest_are_deleted(
    service: Service, call: ApiCall, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_calls, "KEPT_PER_SCENE", 2)
    for status in (201, 202, 203):
        api_calls.note(service, again(call, status=status))
    api_calls.flush(service)
    assert api_calls.purge(service) == 1 and kept(service) == [202, 203]
    clock.advance(31 * DAY)
    assert api_calls.purge(service) == 2 and kept(service) == []


def test_calls_go_with_their_user_and_their_project(service: Service, call: ApiCall) -> None:
    api_calls.note(service, call)
    api_calls.note(service, again(call, external_id="bob", status=201))
    api_calls.note(service, again(call, scene=Scene("proj_gone", "development")))
    api_calls.flush(service)
    assert len(kept(service)) == 2, "one of a project that is deleted meanwhile is left out"
    with service.store.write() as tx:
        assert api_calls.drop_user(tx, call.scene, "alice") == 1
    assert kept(service) == [201]
