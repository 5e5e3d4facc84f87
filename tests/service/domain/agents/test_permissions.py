"""What agents may do: the action's own level, else the app's, else the one it begins with.

App by app and action by action.
"""

from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest

from webapp.errors import Invalid
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.calls import Reply
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.agents import permissions
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, held_tools
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene


@pytest.fixture
def make(service: Service) -> ComponentInfo:
    """An action that changes something and belongs to an app."""
    return replace(component_requests.find(service, "~/make-task", None), app="tinykeys")


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


def test_what_is_on_is_asked_first_while_its_tool_is_another_one(
    service: Service, scene: Scene, make: ComponentInfo
) -> None:
    held_tools.note(service, make, Reply("done", tool_changed=True))
    assert permissions.level(service, scene, "alice", make) == "ask"
    permissions.set_action(service, scene, "alice", make, "off")
    assert permissions.level(service, scene, "alice", make) == "off"


def test_a_choice_goes_with_its_user(service: Service, scene: Scene, make: ComponentInfo) -> None:
    permissions.set_action(service, scene, "alice", make, "off")
    removal.user(service, external_users.get(service.store, scene, "alice"))
    assert service.store.all("SELECT id FROM agent_permissions") == []


def test_apps_that_are_connected_or_chosen_for_are_listed_by_name(
    service: Service, scene: Scene, plant: Callable[..., Account]
) -> None:
    (loose,) = permissions.apps(service, scene, "alice")
    assert loose.app == permissions.NO_APP
    plant("alice", "tinykeys")
    permissions.set_app(service, scene, "alice", "sandbox", "off")
    *listed, last = permissions.apps(service, scene, "alice")
    assert last == loose
    assert "sandbox" in [each.app for each in listed] and [each.name for each in listed] == sorted(
        each.name for each in listed
    )
    sandbox = next(each for each in listed if each.app == "sandbox")
    actions = permissions.actions(service, scene, "alice", "sandbox")
    assert sandbox.to_json()["counts"] == {"off": len(actions), "ask": 0, "on": 0}
    assert {each.level for each in actions} == {"off"}
    assert permissions.apps(service, scene, "bob") == [loose]


def test_actions_without_an_app_have_levels_together_and_alone(service: Service, scene: Scene) -> None:
    permissions.set_app(service, scene, "alice", permissions.NO_APP, "off")
    actions = permissions.actions(service, scene, "alice", permissions.NO_APP)
    assert {each.component.app for each in actions} == {None} and {each.level for each in actions} == {"off"}
    permissions.set_action(service, scene, "alice", actions[0].component, "ask")
    (listed,) = permissions.apps(service, scene, "alice")
    assert (listed.chosen, listed.counts) == ("off", {"off": len(actions) - 1, "ask": 1})
