"""A piece in the catalog: what is written, and that it goes again."""

from pathlib import Path

import pytest

from tests.service.catalog.samples import write_component
from tests.service.pieces import described
from tests.service.pieces.machine import BUILT_IN, PACKAGE, Machine
from webapp.service.pieces import writing


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_is_in_the_catalog_under_each_way_to_connect(machine: Machine) -> None:
    catalog = machine.add(described.piece(described.OAUTH, described.SECRET))
    app, other = catalog.app("acme_tasks"), catalog.app("acme_tasks_api_key")
    assert app is not None
    assert other is not None
    assert (app.auth_type, app.actions, app.triggers, app.test_kind) == ("oauth", 3, 3, "piece")
    assert (other.auth_type, other.name, other.spec.of, other.actions) == (
        "keys",
        "Acme Tasks (API Key)",
        "acme_tasks",
        3,
    )
    assert app.spec.piece_events is not None
    action = catalog.component("acme_tasks-add-task")
    assert action is not None
    assert (action.version, action.has_reload, action.app) == ("0.2.0", True, "acme_tasks")
    assert "pieces/apps/acme_tasks/languages/acme.piece-acme-tasks.de.json" in machine.files


def test_an_app_that_agrees_is_the_app_and_keeps_its_keys(machine: Machine) -> None:
    machine.put("acme_tasks/app.toml", BUILT_IN)
    write_component(machine.built_in, "acme_tasks/actions/find-tasks/1.0.0.py")
    machine.built()
    catalog = machine.add(described.piece(described.SECRET, described.OAUTH))
    app = catalog.app("acme_tasks")
    assert app is not None
    assert (app.own, app.test_kind, app.actions) == (False, "http", 4)
    own, brought = catalog.component("acme_tasks-find-tasks"), catalog.component("acme_tasks-find-tasks-2")
    assert own is not None
    assert brought is not None
    assert (own.version, brought.version) == ("1.0.0", "0.2.0")
    way = catalog.app("acme_tasks_sign_in")
    assert way is not None
    assert (way.spec.of, way.actions, way.spec.base_url) == ("acme_tasks", 3, None)


def test_an_app_of_another_kind_stays_apart(machine: Machine) -> None:
    machine.put("acme_tasks/app.toml", BUILT_IN)
    machine.built()
    catalog = machine.add(described.piece(described.OAUTH))
    app = catalog.app("acme_tasks_2")
    assert app is not None
    assert (app.auth_type, app.actions, app.name) == ("oauth", 3, "Acme Tasks (npm)")
    assert catalog.named("ACME Tasks (npm)") == [app]
    for version in ("0.2.0", "0.3.0"):
        catalog = machine.add(described.piece(described.OAUTH), version, "@globex/piece-acme-tasks")
    names = [app.name for slug in ("acme_tasks", "acme_tasks_2", "acme_tasks_3") if (app := catalog.app(slug))]
    assert names == ["Acme Tasks", "Acme Tasks (npm)", "Acme Tasks (@globex/piece-acme-tasks)"]


def test_versions_stand_side_by_side_and_keep_their_keys(machine: Machine) -> None:
    machine.add(described.piece(described.SECRET))
    catalog = machine.add(described.piece(described.SECRET), "0.10.0")
    newest, older = (catalog.component("acme_tasks-add-task", version) for version in (None, "0.2.0"))
    assert newest is not None
    assert older is not None
    assert (newest.version, older.version) == ("0.10.0", "0.2.0")
    writing.remove(machine.data, PACKAGE, ["0.2.0"])
    catalog = machine.built()
    assert catalog.component("acme_tasks-add-task", "0.2.0") is None
    assert catalog.component("acme_tasks-add-task") is not None


def test_removed_it_leaves_nothing_and_others_stay(machine: Machine) -> None:
    machine.add(described.piece(described.OAUTH, described.SECRET))
    before = machine.files
    machine.add(described.piece(described.SECRET), package="@globex/piece-acme-tasks")
    writing.remove(machine.data, "@globex/piece-acme-tasks")
    assert machine.files == before
    writing.remove(machine.data, PACKAGE)
    assert machine.files == []


def test_one_without_accounts_is_an_app_without_them(machine: Machine) -> None:
    catalog = machine.add(described.piece(triggers={}))
    app = catalog.app("acme_tasks")
    assert app is not None
    assert (app.auth_type, app.actions) == ("none", 3)
