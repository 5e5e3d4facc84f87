"""Workflows: named URLs of a project, and the triggers that use them."""

from typing import Any

import pytest

from webapp.errors import Invalid, NotFound
from webapp.kit import cursors
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints, workflows
from webapp.service.domain.projects.projects import Scene

URL = "https://app.example.com/orders"


def test_one_is_added_renamed_moved_and_removed(service: Service, scene: Scene) -> None:
    added = workflows.add(service, scene, name=" Orders ", url=URL)
    assert added.id.startswith("p_") and added.name == "Orders" and endpoints.url_of(service, added) == URL
    key = endpoints.key_of(service, added)
    with service.store.write() as tx:
        endpoints.switch_off(tx, added.id, "It is gone.", service.clock())
    workflows.change(service, added, name="Sales", url=URL)
    renamed = workflows.get(service.store, scene, added.id)
    assert renamed.name == "Sales" and not renamed.active, "the same URL keeps its past"
    workflows.change(service, renamed, url=f"{URL}/2")
    moved = workflows.get(service.store, scene, added.id)
    assert moved.active and moved.name == "Sales" and endpoints.url_of(service, moved) == f"{URL}/2"
    assert endpoints.key_of(service, moved) == key
    workflows.remove(service, moved)
    with pytest.raises(NotFound):
        workflows.get(service.store, scene, added.id)
    assert workflows.page(service.store, scene, cursors.Window()).items == []


def test_another_environment_and_another_kind_are_absent(service: Service, scene: Scene) -> None:
    added = workflows.add(service, scene, name="Orders", url=URL)
    with service.store.write() as tx:
        webhook = endpoints.add(tx, service, "project", URL, scene=scene)
    other = Scene(scene.project_id, "production")
    for where, workflow_id in ((other, added.id), (scene, webhook.id), (scene, "p_none")):
        with pytest.raises(NotFound):
            workflows.get(service.store, where, workflow_id)
    assert workflows.page(service.store, other, cursors.Window()).items == []


@pytest.mark.parametrize(
    ("name", "url"),
    [("", URL), (" ", URL), ("x" * 101, URL), ("Orders", "ftp://a.example"), ("Orders", "http://10.0.0.1/")],
)
def test_what_cannot_be_used_is_refused(service: Service, scene: Scene, name: str, url: str) -> None:
    with pytest.raises(Invalid):
        workflows.add(service, scene, name=name, url=url)
    added = workflows.add(service, scene, name="Orders", url=URL)
    changes: dict[str, Any] = {"name": name} if url == URL else {"url": url}
    with pytest.raises(Invalid):
        workflows.change(service, added, **changes)
    assert workflows.get(service.store, scene, added.id) == added
