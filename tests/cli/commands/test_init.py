"""``patchbay init`` and ``patchbay migrate``: what scripts need, the same each time."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from webapp.store.sqlite import SQLiteStore


def test_init_is_idempotent_and_makes_what_is_missing(patchbay: Commands) -> None:
    project = patchbay.json("project", "create", "--name", "Acme")
    person = patchbay.json("client", "create")
    first = patchbay.json("init")
    assert list(first) == ["project_id", "client_id", "client_secret", "base_url"]
    assert first["project_id"] == project["id"]
    assert first["client_id"] != person["client_id"]
    assert first["base_url"] == f"http://localhost:{patchbay.env['PATCHBAY_PORT']}"
    assert patchbay.json("init") == first
    assert len(patchbay.json("project", "list")["projects"]) == 1


def test_init_prints_the_rotated_secret(patchbay: Commands) -> None:
    before = patchbay.json("init")
    rotated = patchbay.json("client", "rotate", before["client_id"])
    assert rotated["client_secret"] != before["client_secret"]
    assert patchbay.json("init")["client_secret"] == rotated["client_secret"]


def test_migrate_says_what_it_applied(patchbay: Commands) -> None:
    assert patchbay.json("migrate")["applied"]
    assert patchbay.json("migrate")["applied"] == []


@pytest.mark.parametrize("command", ["migrate", "init"])
def test_a_newer_database_is_refused_in_one_sentence(patchbay: Commands, data: Path, command: str) -> None:
    patchbay.json("migrate")
    with closing(sqlite3.connect(data / "patchbay.db")) as database, database:
        database.execute("UPDATE _sqlite_migrations SET name = 'm999_words' WHERE name = 'm009_ended_tokens'")
    assert patchbay.refused(command) == (
        "Error: The database was made by a newer version of Patchbay: this one does not know m999_words. "
        "Install that version, or restore a backup that was made before."
    )


def test_init_works_in_the_project_of_the_setting(patchbay: Commands) -> None:
    patchbay.json("project", "create", "--name", "First")
    second = patchbay.json("project", "create", "--name", "Second")["id"]
    patchbay.env["PATCHBAY_PROJECT"] = second
    assert patchbay.json("init")["project_id"] == second
    patchbay.env["PATCHBAY_PROJECT"] = "proj_absent"
    assert patchbay.refused("init") == "Error: There is no such project."


def test_init_names_what_end_users_read(patchbay: Commands) -> None:
    project_id = patchbay.json("init", "--app-name", "Acme", "--support-email", "help@acme.example")["project_id"]
    assert patchbay.json("project", "list")["projects"][0]["app_name"] == "Acme"
    assert patchbay.refused("init", "--support-email", "nobody") == (
        "Error: support_email is not valid: Use an e-mail address such as help@example.com."
    )
    assert patchbay.json("init")["project_id"] == project_id
    assert patchbay.json("project", "update", project_id)["support_email"] == "help@acme.example"


def test_compact_writes_the_database_anew_while_nothing_else_runs(patchbay: Commands, data: Path) -> None:
    patchbay.json("migrate")
    sizes = patchbay.json("compact")
    assert 0 < sizes["after"] <= sizes["before"]
    with closing(SQLiteStore(data / "patchbay.db")):
        assert patchbay.refused("compact") == f"Error: Patchbay is running on {data}; stop it first."
