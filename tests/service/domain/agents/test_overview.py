"""App by app and action by action."""

from collections.abc import Callable

from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.agents import overview, permissions
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene


def test_apps_that_are_connected_or_chosen_for_are_listed_by_name(
    service: Service, scene: Scene, plant: Callable[..., Account]
) -> None:
    (loose,) = overview.apps(service, scene, "alice")
    assert loose.app == overview.NO_APP
    plant("alice", "tinykeys")
    permissions.set_app(service, scene, "alice", "sandbox", "off")
    *listed, last = overview.apps(service, scene, "alice")
    assert last == loose
    assert "sandbox" in [each.app for each in listed] and [each.name for each in listed] == sorted(
        each.name for each in listed
    )
    sandbox = next(each for each in listed if each.app == "sandbox")
    actions = overview.actions(service, scene, "alice", "sandbox")
    assert sandbox.to_json()["counts"] == {"off": len(actions), "ask": 0, "on": 0}
    assert {each.level for each in actions} == {"off"}
    assert overview.apps(service, scene, "bob") == [loose]


def test_actions_without_an_app_have_levels_together_and_alone(service: Service, scene: Scene) -> None:
    permissions.set_app(service, scene, "alice", overview.NO_APP, "off")
    actions = overview.actions(service, scene, "alice", overview.NO_APP)
    assert {each.component.app for each in actions} == {None} and {each.level for each in actions} == {"off"}
    permissions.set_action(service, scene, "alice", actions[0].component, "ask")
    (listed,) = overview.apps(service, scene, "alice")
    assert (listed.chosen, listed.counts) == ("off", {"off": len(actions) - 1, "ask": 1})
