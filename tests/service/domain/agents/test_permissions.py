"""What agents may do: the action's own level, else the app's, else the one it begins with."""

from dataclasses import replace

import orjson
import pytest

from webapp.errors import Invalid
from webapp.service.catalog.components import ComponentInfo
from webapp.service.domain.agents import permissions
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import requests
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


@pytest.fixture
def make(service: Service) -> ComponentInfo:
    """An action that changes something and belongs to an app."""
    return replace(requests.find(service, "~/make-task", None), app="tinykeys")


def destroying(component: ComponentInfo) -> ComponentInfo:
    described = orjson.loads(component.json)
    described["annotations"]["destructiveHint"] = True
    return replace(component, key="~/destroy", json=orjson.dumps(described))


def test_what_destroys_begins_with_ask_and_the_rest_is_on(service: Service, scene: Scene, make: ComponentInfo) -> None:
    assert permissions.level(service, scene, "alice", make) == "on"
    assert permissions.level(service, scene, "alice", destroying(make)) == "ask"


def test_an_actions_own_level_comes_before_its_apps(service: Service, scene: Scene, make: ComponentInfo) -> None:
    permissions.set_app(service, scene, "alice", "tinykeys", "off")
    permissions.set_action(service, scene, "alice", make, "ask")
    permissions.set_action(service, scene, "alice", make, "on")
    assert permissions.level(service, scene, "alice", make) == "on"
    assert permissions.level(service, scene, "alice", destroying(make)) == "off"
    permissions.set_app(service, scene, "alice", "tinykeys", "ask")
    assert permissions.level(service, scene, "alice", make) == "ask"
    permissions.set_app(service, scene, "alice", "tinykeys", None)
    assert permissions.level(service, scene, "alice", make) == "on"


def test_nobody_elses_choice_counts(service: Service, scene: Scene, make: ComponentInfo) -> None:
    permissions.set_action(service, scene, "alice", make, "off")
    elsewhere = Scene(scene.project_id, "production")
    assert permissions.level(service, scene, "bob", make) == "on"
    assert permissions.level(service, elsewhere, "alice", make) == "on"


def test_an_unknown_level_is_refused(service: Service, scene: Scene, make: ComponentInfo) -> None:
    with pytest.raises(Invalid):
        permissions.set_action(service, scene, "alice", make, "maybe")
    with pytest.raises(Invalid):
        permissions.set_app(service, scene, "alice", "tinykeys", "")


def test_a_choice_goes_with_its_user(service: Service, scene: Scene, make: ComponentInfo) -> None:
    permissions.set_action(service, scene, "alice", make, "off")
    removing.user(service, external_users.get(service.store, scene, "alice"))
    assert service.store.all("SELECT id FROM agent_permissions") == []
