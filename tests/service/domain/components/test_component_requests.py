"""What counts as asked of a component: which one is found, and the props of a request."""

from types import SimpleNamespace
from typing import Any

import pytest

from webapp.errors import Invalid, NotFound
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.projects.projects import Scene


def test_the_highest_version_is_found_unless_one_is_named(service: Service) -> None:
    newest = component_requests.find(service, "~/make-task", None)
    assert component_requests.find(service, newest.id, newest.version) == newest
    assert component_requests.find(service, "~/make-task", None, "action") == newest
    with pytest.raises(NotFound, match="no such trigger;"):
        component_requests.find(service, "~/make-task", None, "trigger")
    with pytest.raises(NotFound, match=r"no such component in version 99\.0\.0;"):
        component_requests.find(service, "~/make-task", "99.0.0")


PROPS = [{"name": "title", "type": "string"}, {"name": "note", "type": "alert"}]


def test_an_id_that_is_needed_and_not_there_is_called_missing(service: Service, scene: Scene) -> None:
    component = component_requests.find(service, "~/make-task", None)
    with pytest.raises(Invalid, match=r"^dynamic_props_id is missing; reload "):
        component_requests.props_to_fill(service, ComponentRequest(scene, "alice", component, {"project_id": "p1"}))


def test_a_prop_that_a_reload_added_is_no_alias() -> None:
    component: Any = SimpleNamespace(prop_aliases={"app": "account", "projectId": "project_id"}, props=PROPS)
    sent = {"app": {"authProvisionId": "apn_1"}, "projectId": "p7", "title": "Tea"}
    named = {"account": {"authProvisionId": "apn_1"}, "project_id": "p7", "title": "Tea"}
    assert component_requests.by_own_names(component, sent) == named
    added = [{"name": "app", "type": "string"}]
    assert component_requests.by_own_names(component, {"app": "Mail"}, lambda: added) == {"app": "Mail"}
    both = {"app": "other", "account": "own"}
    assert component_requests.by_own_names(component, both) == both
    assert component_requests.by_own_names(None, sent) is sent


def test_a_value_that_ours_does_without_is_dropped_and_the_others_take_our_shape() -> None:
    props = [{"name": "team_id", "type": "string"}, {"name": "to", "type": "string[]"}, {"name": "more", "type": "any"}]
    names = {"cloudId": "", "teamIds": "team_id", "recipient": "to", "rest": "more"}
    component: Any = SimpleNamespace(prop_aliases=names, props=props)

    def named(**sent: Any) -> Any:
        return component_requests.by_own_names(component, sent)

    assert named(cloudId="c1", teamIds=["t1"], recipient="a@b.c", rest=[1]) == {
        "team_id": "t1",
        "to": ["a@b.c"],
        "more": [1],
    }
    assert named(teamIds=["t1", "t2"], recipient=["a", "b"]) == {"team_id": ["t1", "t2"], "to": ["a", "b"]}
    assert named(recipient={"__lv": [{"label": "A", "value": "a"}]}) == {"to": {"__lv": [{"label": "A", "value": "a"}]}}
    assert named(teamIds=[7]) == named(teamIds=7) == {"team_id": "7"}
    assert named(recipient=None, team_id=["t1"]) == {"to": None, "team_id": ["t1"]}
