"""General webhooks as those have them who look after them."""

from dataclasses import replace

import pytest

from webapp.errors import NotFound
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, general_webhooks
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene


def test_a_project_has_its_own_alone(service: Service, scene: Scene, clock: FakeClock) -> None:
    with service.store.write() as tx:
        shared = endpoints.add(tx, service, "general", "https://a.example", scene=None)
        clock.advance(SECOND)
        own = endpoints.add(tx, service, "general", "https://b.example", scene=None, project_id=scene.project_id)
        webhook = endpoints.add(tx, service, "project", "https://c.example", scene=scene)
    reader = service.store
    assert [row.id for row in general_webhooks.every(reader)] == [shared.id, own.id]
    assert general_webhooks.every(reader, scene.project_id) == [own]
    assert general_webhooks.get(reader, shared.id) == shared
    for webhook_id, only in ((shared.id, scene.project_id), (webhook.id, None), ("wh_absent", None)):
        with pytest.raises(NotFound):
            general_webhooks.get(reader, webhook_id, only)


def test_a_test_happens_where_the_installation_works(service: Service, clock: FakeClock) -> None:
    with service.store.write() as tx:
        shared = endpoints.add(tx, service, "general", "https://a.example", scene=None)
    with pytest.raises(NotFound, match="no project yet"):
        general_webhooks.scene_of_test(service, shared, None, "production")
    oldest = projects.create(service, name="Oldest").id
    clock.advance(SECOND)
    other = projects.create(service, name="Other").id
    with service.store.write() as tx:
        own = endpoints.add(tx, service, "general", "https://b.example", scene=None, project_id=other)
    told = replace(service, settings=replace(service.settings, project=other))
    for where, webhook, project_id, expected in (
        (service, shared, None, oldest),
        (told, shared, None, other),
        (told, shared, oldest, oldest),
        (service, own, None, other),
    ):
        scene = general_webhooks.scene_of_test(where, webhook, project_id, "production")
        assert scene == Scene(expected, "production")
    for project_id in (oldest, "proj_absent"):
        with pytest.raises(NotFound):
            general_webhooks.scene_of_test(service, own, project_id, "production")
