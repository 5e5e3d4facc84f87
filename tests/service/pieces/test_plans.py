"""What of a package stands in the data folder.

What a piece would add, told before anything is written.

A piece in the catalog: what is written, and that it goes again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import write_component
from tests.service.components.pieces import samples
from tests.service.pieces import described
from tests.service.pieces.machine import BUILT_IN, PACKAGE, Machine
from webapp.errors import Invalid
from webapp.service.pieces import plans
from webapp.service.pieces.plans import ExistingFiles, mark


def test_its_files_are_reported_with_their_versions_and_names(tmp_path: Path) -> None:
    file = samples.write(tmp_path)
    (tmp_path / "pieces/apps/acme/app.toml").write_text(f'{mark("@acme/piece-acme")}slug = "acme"\n')
    (tmp_path / "pieces/apps/globex").mkdir()
    (tmp_path / "pieces/apps/globex/app.toml").write_text('joins = "globex"\n')
    standing = ExistingFiles.read(tmp_path, "@acme/piece-acme")
    assert standing.files == {file: "0.2.0"}
    assert standing.names("acme", "action") == {"add_task": "add-task"}
    assert standing.names("acme", "trigger") == {}
    assert standing.has_brought("acme")
    assert not standing.has_brought("globex")


def test_what_is_anothers_or_broken_is_left_out(tmp_path: Path) -> None:
    file = samples.write(tmp_path)
    assert ExistingFiles.read(tmp_path, "@globex/piece-acme").files == {}
    file.write_text("{")
    assert ExistingFiles.read(tmp_path, "@acme/piece-acme").files == {}
    assert ExistingFiles.read(tmp_path / "none", "@acme/piece-acme").brought == ()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_what_it_would_add_is_reported_before_anything_is_written(machine: Machine) -> None:
    planned = machine.plan(described.piece(described.OAUTH, described.SECRET, described.OIDC))
    assert (planned.title, planned.app, planned.apps) == (
        "Acme Tasks",
        "acme_tasks",
        ("acme_tasks", "acme_tasks_api_key"),
    )
    assert (planned.auth_kind, planned.hosts) == ("oauth", ("api.acme.io", "*.acme.io"))
    assert [(part.key, part.name) for part in planned.actions] == [
        ("acme_tasks-add-task", "Add Task"), ("acme_tasks-find-tasks", "Find Tasks"),
        ("acme_tasks-status", "Get Status"),
    ]  # fmt: skip
    assert [part.key for part in planned.triggers] == [
        "acme_tasks-new-task", "acme_tasks-told", "acme_tasks-heard",
    ]  # fmt: skip
    assert [(name, kind) for name, kind, _ in planned.left_out] == [
        ("Workload", "connection"), ("Wait", "action"), ("By hand", "trigger"),
    ]  # fmt: skip
    assert machine.files == []


def test_a_trigger_that_hears_an_oauth_client_stands_where_one_is_connected(machine: Machine) -> None:
    """A key or a password comes from no client, so the app that takes them would offer a trigger and then refuse it."""
    told = described.piece(described.SECRET, described.OAUTH)
    assert machine.plan(told).triggers[-1].key == "acme_tasks_sign_in-heard"
    catalog = machine.add(told)
    found = {key: catalog.component(key) for key in ("acme_tasks-told", "acme_tasks-heard", "acme_tasks_sign_in-heard")}
    assert [key for key, component in found.items() if component] == ["acme_tasks-told", "acme_tasks_sign_in-heard"]
    keys_alone = machine.plan(described.piece(described.SECRET), package="@acme/piece-other")
    (reason,) = [reason for name, _, reason in keys_alone.left_out if name == "Heard"]
    assert "nobody connects it by signing in" in reason
    assert [part.name for part in keys_alone.triggers] == ["New Task", "Told"]


def test_a_part_that_asks_for_too_much_is_left_out(machine: Machine) -> None:
    told = described.piece(described.OAUTH)
    prop = {"type": "SHORT_TEXT", "displayName": "x", "required": False}
    name, action = next(iter(told["actions"].items()))
    many = {**action, "props": {"a" + "!" * n: prop for n in range(501)}}
    planned = machine.plan({**told, "actions": {**told["actions"], name: many}})
    assert (name, "action", "It asks for more than 500 values.") in planned.left_out


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda told: {**told, "auth": [described.OIDC]}, "Nobody can connect it here: It signs in as a workload"),
        (
            lambda told: {**told, "actions": {"wait": described.WAIT}, "triggers": {}},
            "Nothing of it can be called here",
        ),
        (lambda told: {**told, "actions": {"x": 5}, "triggers": {}}, "It does not describe itself"),
        (lambda _: [], "does not describe itself as an integration does"),
    ],
)
def test_what_cannot_be_added_is_refused_in_a_sentence(
    machine: Machine, change: Callable[[dict[str, Any]], Any], sentence: str
) -> None:
    with pytest.raises(Invalid, match=sentence):
        machine.plan(change(described.piece(described.SECRET)))


def test_a_version_that_is_no_release_is_refused(machine: Machine) -> None:
    with pytest.raises(Invalid, match="is not a version of three numbers"):
        machine.plan(described.piece(described.SECRET), "1.0.0-beta")


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
    plans.remove(machine.data, PACKAGE, ["0.2.0"])
    catalog = machine.built()
    assert catalog.component("acme_tasks-add-task", "0.2.0") is None
    assert catalog.component("acme_tasks-add-task") is not None


def test_removed_it_leaves_nothing_and_others_stay(machine: Machine) -> None:
    machine.add(described.piece(described.OAUTH, described.SECRET))
    before = machine.files
    machine.add(described.piece(described.SECRET), package="@globex/piece-acme-tasks")
    plans.remove(machine.data, "@globex/piece-acme-tasks")
    assert machine.files == before
    plans.remove(machine.data, PACKAGE)
    assert machine.files == []


def test_one_without_accounts_is_an_app_without_them(machine: Machine) -> None:
    catalog = machine.add(described.piece(triggers={}))
    app = catalog.app("acme_tasks")
    assert app is not None
    assert (app.auth_type, app.actions) == ("none", 3)
