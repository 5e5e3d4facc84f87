"""What ``patchbay check`` says of the database."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.commands.test_check import said_of
from tests.cli.in_process import Commands
from tests.once import postgres as databases
from webapp.cli.commands import database_looks
from webapp.errors import Invalid
from webapp.kit.clock import DAY, now
from webapp.service.domain.instance import backups, instance_key, restoring
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore


def test_check_says_how_far_the_quotas_are_used(patchbay: Commands, data: Path) -> None:
    assert said_of("quotas", patchbay) == []
    patchbay.json("init")
    assert said_of("quotas", patchbay) == [
        ("ok", "The user with the most triggers has 0 of 100."),
        ("ok", "The project with the most triggers has 0 of 10,000."),
        ("ok", "The trigger with the most MB of events keeps 0 of 1,024."),
        ("ok", "The user with the most MB of events keeps 0 of 4,096."),
    ]


def test_what_serve_will_do_is_a_note(patchbay: Commands, data: Path) -> None:
    assert said_of("database", patchbay) == [("note", "There is no database yet; `patchbay serve` makes it.")]
    SQLiteStore(data / "patchbay.db").close()
    _, (verdict, sentence) = said_of("database", patchbay)
    assert verdict == "note"
    assert re.fullmatch(r"\d+ migrations wait; `patchbay serve` and `patchbay migrate` apply them\.", sentence)
    patchbay.json("init")
    assert said_of("database", patchbay) == [
        ("ok", "The file is sound."), ("ok", "The schema is up to date."), ("ok", "The instance key opens it."),
    ]  # fmt: skip
    absent = patchbay.env["PATCHBAY_DATA"] = str(data / "absent")
    assert said_of("data folder", patchbay) == [("note", f"{absent} does not exist yet; `patchbay serve` makes it.")]


def test_a_schema_that_is_not_ours_is_a_problem(patchbay: Commands, data: Path) -> None:
    patchbay.json("init")
    with closing(sqlite3.connect(data / "patchbay.db")) as database:
        database.execute("ALTER TABLE runs RENAME COLUMN took_ms TO took")
    _, (verdict, sentence) = said_of("database", patchbay)
    assert verdict == "problem"
    assert sentence.startswith("The table runs is not as m004_runs, m012_lists, m014_begun_runs, m048_agents left it: ")
    assert patchbay.run("check").exit_code == 1


def test_a_damaged_database_is_a_problem(patchbay: Commands, data: Path) -> None:
    patchbay.json("init")
    path = data / "patchbay.db"
    with closing(SQLiteStore(path)) as store:
        store.checkpoint()
        (root,) = store.tuples("SELECT rootpage FROM sqlite_master WHERE name = 'projects'")[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\x55" * 4096)
    ((verdict, sentence),) = said_of("database", patchbay)
    assert verdict == "problem" and sentence.startswith("The database is damaged. Stop Patchbay, and put a backup")
    path.write_bytes(b"no database" * 1_000)
    ((verdict, sentence),) = said_of("database", patchbay)
    assert verdict == "problem" and sentence.startswith("The database is damaged.")
    assert "Error: The database is damaged." in patchbay.run("init").stderr


def test_a_key_that_does_not_open_the_database_is_a_problem(patchbay: Commands) -> None:
    patchbay.json("init")
    patchbay.env["PATCHBAY_SECRET_KEY"] = "wR4sD9fN2jG7lH5mY0bV3tC8xK1zQ6uEaP"
    assert patchbay.run("check").exit_code == 1
    assert said_of("database", patchbay) == [
        ("ok", "The file is sound."),
        ("ok", "The schema is up to date."),
        (
            "problem",
            "The instance key does not open this database; set the PATCHBAY_SECRET_KEY or keys file it was made with.",
        ),
    ]


def test_a_key_that_can_be_guessed_is_said_so(patchbay: Commands, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patchbay.env["PATCHBAY_SECRET_KEY"] = "password" * 4
    assert ("problem", "PATCHBAY_SECRET_KEY can be guessed; `openssl rand -hex 32` makes a good one.") in said_of(
        "database", patchbay
    )
    assert "can be guessed" in patchbay.refused("init")
    with monkeypatch.context() as before:
        before.setattr(instance_key, "is_weak", lambda _: False)
        patchbay.json("init")
    verdict, sentence = said_of("database", patchbay)[-1]
    assert verdict == "note" and sentence.endswith("`patchbay keys rotate --instance`, while nothing runs.")
    patchbay.json("init")


def test_a_server_is_named_and_what_is_its_own_affair_is_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = databases.new()
    settings = Settings.from_env({"PATCHBAY_DATABASE_URL": databases.url(name)}, data=data)
    findings = [*database_looks.database(settings), *database_looks.disk(settings), *database_looks.quotas(settings)]
    assert {verdict for verdict, _ in findings} == {"ok"}
    sentences = " ".join(sentence for _, sentence in findings)
    assert "The database is that of PostgreSQL" in sentences and "The database has " in sentences
    assert "log" not in sentences and "file" not in sentences
    monkeypatch.setattr(database_looks, "now", lambda: now() + 62 * DAY)
    (note,) = [sentence for verdict, sentence in database_looks.database(settings) if verdict == "note"]
    assert re.match(r"The tables of \d{4}_\d\d and \d{4}_\d\d are missing\. A worker makes them", note)
    with pytest.raises(Invalid, match="pg_dump"):
        backups.write(settings, tmp_path / "backup.zip", now)
    with pytest.raises(Invalid, match="pg_restore"):
        restoring.restore(settings, tmp_path / "backup.zip", now)
    databases.drop(name)
