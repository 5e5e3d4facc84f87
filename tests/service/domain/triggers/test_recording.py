"""What is recorded is seen at the trigger, and nothing is where nothing was emitted."""

from tests.fakes.triggers import deploy, emitted, request_of, row
from webapp.service.components.calls import Emitted
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import recording


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
