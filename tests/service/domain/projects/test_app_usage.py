"""What happened by app and day: added up by day of UTC, kept for 400 days, and gone with its project."""

from webapp.kit.clock import DAY, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import app_usage, projects
from webapp.service.domain.projects.projects import Scene


def test_counts_are_added_up_by_day_and_app(service: Service, scene: Scene, clock: FakeClock) -> None:
    midnight = clock() // DAY * DAY
    with service.store.write() as tx:
        app_usage.add(tx, scene, "github", "run", midnight - 1)
        app_usage.add(tx, scene, "github", "run", midnight, 2)
        app_usage.add(tx, scene, "github", "failed_run", midnight + DAY - 1)
        app_usage.add(tx, scene, None, "event", midnight)
        app_usage.add(tx, Scene(scene.project_id, "production"), "github", "run", midnight, 50)
    shown = [day.to_json() for day in app_usage.days(service.store, scene, midnight + 5, midnight + 6)]
    assert [(day["app"], day["runs"], day["failed_runs"], day["events"]) for day in shown] == [
        (None, 0, 0, 1), ("github", 2, 1, 0)
    ]  # fmt: skip
    assert len(app_usage.days(service.store, scene, midnight - 1, midnight)) == 3
    (only,) = app_usage.days(service.store, scene, midnight, midnight, app="")
    assert only.counts == {"event": 1}


def test_days_go_after_400_days_and_with_their_project(service: Service, scene: Scene, clock: FakeClock) -> None:
    other = Scene(projects.create(service, name="Other").id, "development")
    with service.store.write() as tx:
        app_usage.add(tx, scene, "github", "run", clock())
        app_usage.add(tx, other, "github", "run", clock())
    with service.store.write() as tx:
        projects.erase(service, tx, other.project_id)
    clock.advance(399 * DAY)
    assert app_usage.purge(service) == 0
    clock.advance(3 * DAY)
    assert app_usage.purge(service) == 1
