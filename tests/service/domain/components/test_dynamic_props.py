"""Dynamic props: kept for their user and component, and forgotten when nobody uses them."""

import pytest

from webapp.errors import NotFound
from webapp.kit.clock import DAY, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import dynamic_props
from webapp.service.domain.projects.projects import Scene

PROPS = [{"name": "é", "type": "string", "label": "É"}]


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
