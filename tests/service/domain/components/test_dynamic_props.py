"""Dynamic props: kept for their user and component, and forgotten when nobody uses them."""

from types import SimpleNamespace
from typing import Any

import pytest

from webapp.errors import NotFound
from webapp.kit.clock import DAY, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import dynamic_props
from webapp.service.domain.projects.projects import Scene

PROPS = [{"name": "é", "type": "string", "label": "É"}]


def prop(name: str = "it", kind: str = "string", **facts: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **facts}


def test_values_that_decide_which_props_there_are_need_a_reload() -> None:
    props = [prop("title"), prop("project", reloadProps=True)]
    component: Any = SimpleNamespace(has_reload=True, props=props)
    assert dynamic_props.must_be_reloaded(component, {"project": "p1"})
    assert dynamic_props.must_be_reloaded(component, {"title": "Tea", "added": "x"})
    assert not dynamic_props.must_be_reloaded(component, {"title": "Tea", "project": None, "added": None})
    fixed: Any = SimpleNamespace(has_reload=False, props=props)
    assert not dynamic_props.must_be_reloaded(fixed, {"project": "p1", "added": "x"})


def test_kept_for_one_user_of_one_scene_and_one_component(service: Service, scene: Scene) -> None:
    kept = dynamic_props.keep(service, scene, "alice", "sc_1", PROPS)
    assert kept.startswith("dyp_")
    assert dynamic_props.get(service, scene, "alice", "sc_1", kept) == PROPS
    production = Scene(scene.project_id, "production")
    for place in ((scene, "bob", "sc_1"), (scene, "alice", "sc_2"), (production, "alice", "sc_1")):
        with pytest.raises(NotFound):
            dynamic_props.get(service, *place, kept)


def test_forgotten_30_days_after_the_last_use(service: Service, scene: Scene, clock: FakeClock) -> None:
    used, unused = (dynamic_props.keep(service, scene, "alice", "sc_1", PROPS) for _ in range(2))
    for _ in range(3):
        clock.advance(11 * DAY)
        dynamic_props.get(service, scene, "alice", "sc_1", used)
    assert dynamic_props.purge(service) == 1
    assert dynamic_props.get(service, scene, "alice", "sc_1", used) == PROPS
    with pytest.raises(NotFound):
        dynamic_props.get(service, scene, "alice", "sc_1", unused)


def test_props_given_at_run_time_are_freed_of_what_is_invalid() -> None:
    good = [prop("a", default="x"), prop("b", "integer", min=1, max=2, default=2), prop("n", "alert", content="c")]
    assert dynamic_props.without_invalid(good) == (good, [])
    wrong = [prop("a", default=5), prop("b", "integer", min=0.5), prop("c", "nonsense")]
    valid, problems = dynamic_props.without_invalid(wrong)
    assert valid == [prop("a"), prop("b", "integer")]
    assert [sentence.endswith(".") for sentence in problems] == [True, True, True]
