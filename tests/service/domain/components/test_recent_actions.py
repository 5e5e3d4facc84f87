"""The actions that were run for somebody lately."""

from typing import Any

from webapp.service.domain.base.service import Service
from webapp.service.domain.components import recent_actions, runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.projects.projects import Scene


def test_each_once_the_last_one_first(service: Service, scene: Scene, clock: Any) -> None:
    for user, key in (("alice", "a"), ("alice", "b"), ("bob", "c"), ("alice", "a")):
        clock.advance(1000)
        runs.begin(service, scene, Run(user, "sc_1", key, "0.0.1", None, service.clock()), {})
    assert recent_actions.keys(service.store, scene, "alice") == ["a", "b"]
    assert recent_actions.keys(service.store, scene, "nobody") == []
