"""What a piece would add, told before anything is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.pieces import described
from tests.service.pieces.machine import Machine
from webapp.errors import Invalid


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_what_it_would_add_is_told_before_anything_is_written(machine: Machine) -> None:
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
