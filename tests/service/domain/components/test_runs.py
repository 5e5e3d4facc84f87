"""The history of runs: sealed, masked, filtered, and forgotten in time.

The files of a run: the newest of each name go in, what was written is kept, and a full stash fails no run.

The actions that were run for somebody lately.
"""

from dataclasses import replace
from typing import Any

import pytest

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.kit.clock import FakeClock
from webapp.service.domain.base import log_retention
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import file_stash, runs
from webapp.service.domain.components.runs import Filter, Run
from webapp.service.domain.projects.projects import Scene

RUN = Run("alice", "sc_1", "~/echo", "0.0.1", "tinykeys", 1, 5, True, "Wrote key-secret-0001.")
STASH = file_stash.new_stash_id()


def keep(service: Service, scene: Scene, **changes: Any) -> Run:
    run = replace(RUN, **{"id": f"run_{len(ids(service, scene))}", "started_at": service.clock(), **changes})
    runs.begin(service, scene, run, {"given": 1})
    outputs = {"ret": "key-secret-0001", "os": []}
    runs.end(service, scene, run, outputs=outputs, secrets=["key-secret-0001"])
    return run


def ids(service: Service, scene: Scene, **filters: Any) -> list[str]:
    page = runs.page(service.store, scene, Filter(**filters), cursors.Window(50))
    assert page.total_count == len(page.items)
    return [run.id for run in page.items]


def test_a_run_is_sealed_and_its_secrets_masked(service: Service, scene: Scene) -> None:
    run = keep(service, scene)
    details = runs.details(service, scene, run.id)
    assert (
        details["given"] == 1
        and "key-secret-0001" not in str(details["ret"])
        and "key-secret-0001" not in details["summary"]
    )
    row = service.store.one("SELECT inputs_sealed FROM runs WHERE id = :id", {"id": run.id})
    assert row is not None and b"given" not in row["inputs_sealed"]
    for where, user in ((Scene(scene.project_id, "production"), None), (scene, "bob")):
        with pytest.raises(NotFound):
            runs.details(service, where, run.id, external_id=user)


def test_filters(service: Service, scene: Scene, clock: FakeClock) -> None:
    first = keep(service, scene).id
    clock.advance(1)
    second = keep(service, scene, external_id="bob", component_id="sc_2", component_key="~/x", ok=False, app=None).id
    assert ids(service, scene) == [second, first]
    assert ids(service, scene, external_id="bob") == ids(service, scene, ok=False) == [second]
    assert ids(service, scene, component="~/echo") == ids(service, scene, component="sc_1") == [first]
    assert ids(service, scene, app="tinykeys") == ids(service, scene, ok=True) == [first]
    third = keep(service, scene, agent="Desk Helper").id
    assert ids(service, scene, by_agents=True) == ids(service, scene, external_id="alice", by_agents=True) == [third]


def test_old_runs_and_those_beyond_the_newest_are_forgotten(
    service: Service, scene: Scene, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "KEPT_PER_USER", 2)
    for _ in range(3):
        clock.advance(1)
        keep(service, scene)
    assert runs.purge(service) == 1 and ids(service, scene) == ["run_2", "run_1"]
    clock.advance(log_retention.KEPT + 2)
    assert runs.purge(service) == 2 and ids(service, scene) == []


def test_a_run_stands_in_the_history_from_its_beginning(service: Service, scene: Scene) -> None:
    runs.begin(service, scene, RUN, {"given": 1})
    begun = runs.details(service, scene, RUN.id)
    assert (begun["status"], begun["given"], begun["ret"], begun["error"]) == ("running", 1, None, None)
    runs.end(service, scene, replace(RUN, ok=False, error="No."), outputs={"ret": 2, "os": []})
    ended = runs.details(service, scene, RUN.id)
    assert (ended["status"], ended["ok"], ended["error"], ended["ret"]) == ("failed", False, "No.", 2)


def test_what_cannot_run_any_more_is_said_to_be_cut_off_until_it_ends(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    run = replace(RUN, started_at=service.clock(), ok=False, summary=None)
    runs.begin(service, scene, run, {})
    clock.advance(runs.LONGEST)
    runs.purge(service)
    assert runs.details(service, scene, run.id)["status"] == "running"
    clock.advance(1)
    runs.purge(service)
    cut_off = runs.details(service, scene, run.id)
    assert (cut_off["status"], cut_off["ok"], cut_off["error"]) == ("unknown", False, runs.CUT_OFF)
    runs.end(service, scene, replace(run, ok=True), outputs={"ret": 1})
    late = runs.details(service, scene, run.id)
    assert (late["status"], late["error"], late["ret"]) == ("succeeded", None, 1)


def test_each_once_the_last_one_first(service: Service, scene: Scene, clock: Any) -> None:
    for user, key in (("alice", "a"), ("alice", "b"), ("bob", "c"), ("alice", "a")):
        clock.advance(1000)
        runs.begin(service, scene, Run(user, "sc_1", key, "0.0.1", None, service.clock()), {})
    assert runs.recent_action_keys(service.store, scene, "alice") == ["a", "b"]
    assert runs.recent_action_keys(service.store, scene, "nobody") == []
