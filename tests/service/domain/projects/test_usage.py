"""Usage: counted hour by hour and kind by kind, at once or a moment later, and kept for 400 days."""

from webapp.kit.clock import DAY, HOUR, SECOND, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import usage
from webapp.service.domain.projects.projects import Scene


def test_uses_of_an_hour_are_added_up_by_kind(service: Service, scene: Scene, clock: FakeClock) -> None:
    start = clock() // HOUR * HOUR
    with service.store.write() as tx:
        usage.add(tx, scene, "run", start)
        usage.add(tx, Scene(scene.project_id, "production"), "run", start + HOUR - 1, by=2)
        usage.add(tx, scene, "event", start + HOUR)
    first, second = usage.hours(service.store, start, start + 2 * HOUR)
    assert (first["action_run_credits_used"], first["credits_used"]) == (3, 3)
    assert (first["usage_start_ts"], first["usage_end_ts"]) == (start // SECOND, (start + HOUR) // SECOND)
    assert (second["source_emit_credits_used"], second["proxy_credits_used"]) == (1, 0)
    assert usage.hours(service.store, start, start + 2 * HOUR, project_id="proj_none") == []


def test_what_is_noted_is_written_with_the_next_flush(service: Service, scene: Scene, clock: FakeClock) -> None:
    usage.note(service, scene, "proxy")
    usage.note(service, scene, "proxy")
    usage.note(service, Scene("proj_gone", "development"), "proxy")
    assert usage.hours(service.store, 0, clock() + HOUR) == []
    usage.flush(service)
    usage.flush(service)
    (hour,) = usage.hours(service.store, 0, clock() + HOUR)
    assert hour["proxy_credits_used"] == 2


def test_hours_are_forgotten_after_400_days(service: Service, scene: Scene, clock: FakeClock) -> None:
    with service.store.write() as tx:
        usage.add(tx, scene, "run", clock())
    clock.advance(399 * DAY)
    assert usage.purge(service) == 0
    clock.advance(2 * DAY)
    assert usage.purge(service) == 1
