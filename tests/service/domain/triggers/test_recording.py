"""What is recorded is seen at the trigger, and nothing is where nothing was emitted."""

import pytest

from tests.fakes.triggers import deploy, emitted, request_of, row
from tests.service.quotas import with_quotas
from webapp.errors import TooLarge
from webapp.kit.clock import FakeClock
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, lifecycle, recording
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.store.contract import Tx


def test_events_and_requests_are_recorded_with_their_time(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, "http-new-requests")
    with service.store.write() as tx:
        assert recording.record(tx, service, trigger, []) == []
    assert row(service, trigger)["last_event_at"] is None
    with service.store.write() as tx:
        recording.record(tx, service, trigger, [Emitted({"n": 1}, None, "One", 5)])
        request = request_of({"n": 2})
        recording.record_request(tx, service, trigger, request, "POST /", request.size())
    assert sorted(str(entry["sum"]) for entry in emitted(service, trigger)) == ["One", "POST /"]
    assert row(service, trigger)["last_event_at"] == service.clock()


def test_the_time_of_the_last_event_is_written_once_a_second(
    service: Service, clock: FakeClock, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger_id, began, written = deploy(service, scene, "http-new-requests").id, clock(), list[int]()

    def claiming(_: Tx) -> str:
        written.append(clock() - began)
        return ""

    monkeypatch.setattr(lifecycle, "claiming", claiming)
    for at in (0, 999, 1_000, 1_999, -5):
        clock.at = began + at
        with service.store.write() as tx:
            lifecycle.set_last_event(tx, deployed_triggers.get(tx, scene, trigger_id), clock())
            assert deployed_triggers.get(tx, scene, trigger_id).last_event_at == began + written[-1]
    assert written == [0, 1_000, -5]


def test_what_comes_from_outside_is_bounded_in_bytes_and_what_is_found_is_kept(service: Service, scene: Scene) -> None:
    strict, body = with_quotas(service, TRIGGER_MB=1, USER_MB=2), "x" * 600_000
    first, second, third = (deploy(strict, scene, "http-new-requests") for _ in range(3))

    def come(trigger: DeployedTrigger) -> None:
        with service.store.write() as tx:
            recording.record_request(tx, strict, trigger, request_of(body), "POST /", 1)

    come(first)
    with pytest.raises(TooLarge, match=r"^This trigger keeps 1 MB of events, which is all it may"):
        come(first)
    come(second)
    come(third)
    with service.store.write() as tx:
        recording.record(tx, strict, first, [Emitted({"x": body}, None, None, 5)])
    with pytest.raises(TooLarge, match=r"^The triggers of this user keep 2 MB"):
        come(deploy(strict, scene, "http-new-requests"))
    assert service.store.tuples("SELECT COUNT(*) FROM events") == [(4,)]
