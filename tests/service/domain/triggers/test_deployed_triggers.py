"""Deployed triggers: found through their owner, by their endpoint and their address; their values open for us alone.

Which deployed triggers use a workflow.
"""

from typing import Any

import pytest

from tests.fakes.deployed import plant_trigger, plant_trigger_of
from tests.fakes.triggers import deploy
from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.clock import FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import workflows
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import Filter


def ids(service: Service, scene: Scene, **filters: Any) -> list[str]:
    page = deployed_triggers.page(service.store, scene, Filter(**filters), cursors.Window(50))
    assert page.total_count == len(page.items)
    return [trigger.id for trigger in page.items]


def test_a_trigger_is_found_through_its_owner(service: Service, scene: Scene) -> None:
    trigger, key = plant_trigger_of(service, scene, "http-new-requests", {"a": 1})
    plant_trigger_of(service, scene, "http-new-requests", user="bob")
    alice, bob = (external_users.find(service.store, scene, user) for user in ("alice", "bob"))
    assert deployed_triggers.get(service.store, scene, trigger.id, user=alice) == trigger
    for where, user in ((scene, bob), (Scene(scene.project_id, "production"), None)):
        with pytest.raises(NotFound):
            deployed_triggers.get(service.store, where, trigger.id, user=user)
    assert deployed_triggers.by_endpoint(service.store, key) == trigger
    assert deployed_triggers.by_endpoint(service.store, "another") is None
    assert deployed_triggers.configured(service, trigger) == {"a": 1}
    assert deployed_triggers.endpoint_url(service, trigger) == f"{service.settings.public_url}/h/{key}"


def test_a_mail_address_is_found_whatever_its_case(service: Service, scene: Scene) -> None:
    trigger, _ = plant_trigger_of(service, scene, "email-new-email")
    assert trigger.email_local is not None
    assert deployed_triggers.by_email(service.store, trigger.email_local.upper()) == trigger


def test_filters_and_lists(service: Service, scene: Scene) -> None:
    http, timer = (plant_trigger_of(service, scene, key)[0] for key in ("http-new-requests", "schedule-cron"))
    bobs, _ = plant_trigger_of(service, scene, "schedule-cron", user="bob")
    assert set(ids(service, scene)) == {http.id, timer.id, bobs.id}
    assert ids(service, scene, external_id="bob") == [bobs.id]
    assert ids(service, scene, emitter="http") == [http.id]
    assert {found.id for found in deployed_triggers.of_user(service.store, http.user)} == {http.id, timer.id}
    assert len(deployed_triggers.of_project(service.store, scene.project_id)) == 3


def test_only_deployed_triggers_of_the_scene(service: Service, scene: Scene, clock: FakeClock) -> None:
    workflow = workflows.add(service, scene, name="Orders", url="https://app.example.com/orders")
    for _ in range(3):
        clock.advance(1)
        last = plant_trigger(service, scene, workflows=[workflow.id])
    plant_trigger(service, scene)
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET deployed = 0 WHERE id = :id", {"id": last.id})
    using = deployed_triggers.first_of_workflow(service.store, scene, workflow, 10)
    assert len(using) == deployed_triggers.count_of_workflow(service.store, scene, workflow) == 2
    assert using[0].created_at < using[1].created_at < last.created_at
    assert deployed_triggers.first_of_workflow(service.store, scene, workflow, 1) == using[:1]
    elsewhere = Scene(scene.project_id, "production")
    assert deployed_triggers.first_of_workflow(service.store, elsewhere, workflow, 10) == []
    assert deployed_triggers.count_of_workflow(service.store, elsewhere, workflow) == 0


def test_slugs_are_numbered(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene, name="Tägliche Liste")
    assert trigger.name_slug == "tagliche-liste"
    owner = trigger.external_user_id
    assert deployed_triggers.free_slug(service.store, owner, "Tägliche Liste") == "tagliche-liste-2"
    assert deployed_triggers.free_slug(service.store, owner, "Tägliche Liste", but=trigger.id) == "tagliche-liste"
    assert deployed_triggers.free_slug(service.store, owner, "…") == "trigger"
