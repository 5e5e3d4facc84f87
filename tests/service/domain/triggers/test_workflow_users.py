"""Which deployed triggers use a workflow."""

from tests.fakes.deployed import plant_trigger
from webapp.kit.clock import FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import workflows
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import workflow_users


def test_deployed_triggers_of_the_scene_alone(service: Service, scene: Scene, clock: FakeClock) -> None:
    workflow = workflows.add(service, scene, name="Orders", url="https://app.example.com/orders")
    for _ in range(3):
        clock.advance(1)
        last = plant_trigger(service, scene, workflows=[workflow.id])
    plant_trigger(service, scene)
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET deployed = 0 WHERE id = :id", {"id": last.id})
    using = workflow_users.first(service.store, scene, workflow, 10)
    assert len(using) == workflow_users.count(service.store, scene, workflow) == 2
    assert using[0].created_at < using[1].created_at < last.created_at
    assert workflow_users.first(service.store, scene, workflow, 1) == using[:1]
    elsewhere = Scene(scene.project_id, "production")
    assert workflow_users.first(service.store, elsewhere, workflow, 10) == []
    assert workflow_users.count(service.store, elsewhere, workflow) == 0
