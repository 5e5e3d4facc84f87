"""``patchbay check``: what keeps an installation from working, and what to do."""

import json
import re
import socket
from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.looking import look


def said_of(subject: str, patchbay: Commands) -> list[tuple[str, str]]:
    """Verdict and sentence of each finding about ``subject``."""
    findings = json.loads(patchbay.run("check", "--json").stdout)["findings"]
    return [(entry["verdict"], entry["sentence"]) for entry in findings if entry["subject"] == subject]


def test_check_is_content_with_a_new_and_with_a_used_folder(patchbay: Commands, data: Path) -> None:
    assert patchbay.json("check")["ok"]
    patchbay.json("init")
    found = patchbay.json("check")
    assert found["ok"] and {one["subject"] for one in found["findings"]} == {
        "settings", "SQLite", "data folder", "database", "disk", "quotas", "catalog", "components",
        "integrations", "ports",
    }  # fmt: skip


def test_check_says_what_confines_the_code_of_components(patchbay: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    patchbay.json("component", "new", "say-hello")
    (first, *measures) = said_of("components", patchbay)
    assert first == ("ok", "1 of your own that are code; 0 of them may read the secrets of the accounts given.")
    assert [sentence for _, sentence in measures] == [measure.sentence for measure in look()]
    monkeypatch.setattr("webapp.cli.commands.check.look_at_confinement", Confinement().measures)
    (_, *notes) = said_of("components", patchbay)
    assert {verdict for verdict, _ in notes} == {"note"}
    assert "can read and write what this user can, such as the key and the database" in notes[0][1]


def test_check_asks_for_the_name_of_a_proxy(patchbay: Commands) -> None:
    assert said_of("proxy", patchbay) == []
    patchbay.env = {**patchbay.env, "PATCHBAY_PUBLIC_URL": "https://connect.example.com"}
    ((verdict, sentence),) = said_of("proxy", patchbay)
    assert verdict == "note" and "name it in PATCHBAY_TRUSTED_PROXIES" in sentence
    patchbay.env = {**patchbay.env, "PATCHBAY_TRUSTED_PROXIES": "127.0.0.1"}
    assert said_of("proxy", patchbay) == []


def test_check_finds_what_is_wrong(patchbay: Commands, data: Path) -> None:
    patchbay.json("init")
    (data / "keys").chmod(0o644)
    done = patchbay.run("check")
    assert done.exit_code == 1 and "chmod 600" in done.stdout
    with socket.create_server(("127.0.0.1", 0)) as taken:
        patchbay.env = {**patchbay.env, "PATCHBAY_MAIL_PORT": str(taken.getsockname()[1])}
        assert "set PATCHBAY_MAIL_PORT to another" in patchbay.run("check").stdout
    patchbay.env = {**patchbay.env, "PATCHBAY_PORT": "no"}
    done = patchbay.run("check", "--json")
    assert done.exit_code == 1 and "PATCHBAY_PORT" in json.loads(done.stdout)["findings"][0]["sentence"]


def test_an_app_of_your_own_that_is_unsound_is_a_problem(patchbay: Commands, data: Path) -> None:
    (data / "apps" / "acme").mkdir(parents=True)
    (data / "apps" / "acme" / "app.toml").write_text("slug = ")
    assert patchbay.run("check").exit_code == 1
    (problem, sound) = said_of("catalog", patchbay)
    assert problem == ("problem", "acme/app.toml: it cannot be read as TOML (Invalid value (at end of document)).")
    assert sound[0] == "ok" and re.fullmatch(r"\d+ apps can be served\.", sound[1])


def test_an_old_sqlite_is_a_note(patchbay: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version", "3.51.x")
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 51, 3))
    assert said_of("SQLite", patchbay) == [("ok", "Version 3.51.x.")]
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 51, 2))
    ((verdict, sentence),) = said_of("SQLite", patchbay)
    assert verdict == "note"
    assert sentence.startswith("Version 3.51.x. Before 3.51.3, two checkpoints at once can damage the database;")


def test_a_taken_port_is_a_note_that_names_its_setting(patchbay: Commands) -> None:
    port = int(str(patchbay.env["PATCHBAY_PORT"]))
    with socket.create_server(("127.0.0.1", port)):
        taken, *others = said_of("ports", patchbay)
    assert taken == (
        "note",
        f"{port} is taken or not ours (address already in use): if that is not Patchbay, set PATCHBAY_PORT to another.",
    )
    assert others[0] == ("ok", f"{port + 1} is free.")
