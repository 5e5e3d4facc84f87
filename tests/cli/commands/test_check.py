"""``patchbay check``: what keeps an installation from working, and what to do.

What ``patchbay check`` says of the database.

What ``patchbay check`` says of another Connect service.

What is said of the OpenID provider of the settings, and of the server of mails to people.

What ``patchbay check`` says of integrations.
"""

import json
import re
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.in_process import Commands
from tests.dashboard.plain_service import without_extensions
from tests.fakes.installation import Installation
from tests.fakes.smtp_server import MailServer
from tests.fakes.socket_server import serving
from tests.once import postgres as databases
from tests.people.openid import ENV, FakeOpenId
from tests.service.catalog.samples import CATEGORIES, KEYS
from tests.service.domain.pieces.tried import describe, tarball
from webapp.cli.commands import check
from webapp.errors import Invalid
from webapp.kit.clock import DAY, FakeClock, now
from webapp.service.catalog.sources import Places
from webapp.service.components.confinement.confinement import Confinement, look
from webapp.service.components.pieces import node
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.instance import backups, instance_key
from webapp.setting_values import SmtpServer
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore

LACKS = "It lacks Activity, the history of runs, what triggers sent in a day, the audit; "
HIDDEN = "the dashboard hides what needs them."
MEASURES = cache(check.look_at_confinement)  # type: ignore[attr-defined]  # as the command has it
"""What confines components on this machine, looked at once: each look forks the whole process of the tests."""


@pytest.fixture(autouse=True)
def little_to_look_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check looks at everything: of what is the same for all, that is one built-in app and :data:`MEASURES`."""
    built_in = tmp_path / "built-in"
    (built_in / "acme").mkdir(parents=True)
    (built_in / "categories.toml").write_text(CATEGORIES)
    (built_in / "acme" / "app.toml").write_text(KEYS)
    monkeypatch.setattr(check, "Places", partial(Places, built_in=built_in))
    monkeypatch.setattr(check, "look_at_confinement", MEASURES)


def said_of(subject: str, patchbay: Commands) -> list[tuple[str, str]]:
    """Verdict and sentence of each finding about ``subject``."""
    findings = json.loads(patchbay.run("check", "--json").stdout)["findings"]
    return [(entry["verdict"], entry["sentence"]) for entry in findings if entry["subject"] == subject]


def test_check_is_content_with_a_new_and_with_a_used_folder(
    patchbay: Commands, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "Places", Places)
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


def test_check_says_how_far_the_quotas_are_used(patchbay: Commands, data: Path) -> None:
    assert said_of("quotas", patchbay) == []
    patchbay.json("init")
    assert said_of("quotas", patchbay) == [
        ("ok", "The user with the most triggers has 0 of 100."),
        ("ok", "The project with the most triggers has 0 of 10,000."),
        ("ok", "The trigger with the most MiB of events keeps 0 of 1,024."),
        ("ok", "The user with the most MiB of events keeps 0 of 4,096."),
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
    assert sentence.startswith(
        "The table runs is not as m004_runs, m012_lists, m014_begun_runs, m048_agents, m059_logs, "
        "m063_logs_by_outcome, m069_logs_of_rare left it: "
    )
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
    findings = [*check.database(settings), *check.disk(settings), *check.quotas(settings)]
    assert {verdict for verdict, _ in findings} == {"ok"}
    sentences = " ".join(sentence for _, sentence in findings)
    assert "The database is that of PostgreSQL" in sentences and re.search(r"The database has [\d,]+ MiB\.", sentences)
    assert "log" not in sentences and "file" not in sentences
    monkeypatch.setattr(check, "now", lambda: now() + 62 * DAY)
    (note,) = [sentence for verdict, sentence in check.database(settings) if verdict == "note"]
    assert re.match(r"The tables of \d{4}_\d\d and \d{4}_\d\d are missing\. A worker makes them", note)
    with pytest.raises(Invalid, match="pg_dump"):
        backups.write(settings, tmp_path / "backup.zip", now)
    with pytest.raises(Invalid, match="pg_restore"):
        backups.restore(settings, tmp_path / "backup.zip", now)
    databases.drop(name)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    service = Installation(tmp_path_factory.mktemp("other"))
    yield service.start()
    service.stop()


def drive(patchbay: Commands, other: Installation, **changed: str) -> None:
    client, secret = oauth_clients.create(other.service, name="Dashboard", project_id=other.project.id)
    patchbay.env.update(
        PATCHBAY_CONNECT_URL=other.url, PATCHBAY_CONNECT_CLIENT_ID=client.id, PATCHBAY_CONNECT_CLIENT_SECRET=secret,
        PATCHBAY_PROJECT=other.project.id,
    )  # fmt: skip
    patchbay.env.update(changed)


def test_the_embedded_one_is_not_asked(patchbay: Commands) -> None:
    assert said_of("Connect service", patchbay) == []


@pytest.mark.parametrize("plain", [False, True])
def test_what_it_answers_and_lacks_is_reported(plain: bool, patchbay: Commands, other: Installation) -> None:
    if plain:
        without_extensions(other.app)
    drive(patchbay, other)
    answers, *rest = said_of("Connect service", patchbay)
    if plain:
        other.restart()  # with its extensions, for the tests that share it
    assert answers == ("ok", f"{other.url} answers for the project {other.project.id} in development.")
    assert rest == ([("note", LACKS + HIDDEN)] if plain else [])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"PATCHBAY_CONNECT_CLIENT_SECRET": "wrong"},
            "{url}: The Connect service refused the dashboard’s own client; check its id and secret.",
        ),
        ({"PATCHBAY_PROJECT": "proj_absent1"}, "{url} has no project proj_absent1; set PATCHBAY_PROJECT to one."),
        (
            {"PATCHBAY_CONNECT_URL": "http://127.0.0.1:9"},
            "http://127.0.0.1:9: The Connect service does not answer right now. "
            "Nothing is lost; try again in a moment.",
        ),
    ],
)
def test_what_keeps_it_from_working_is_a_problem(
    changed: dict[str, str], sentence: str, patchbay: Commands, other: Installation
) -> None:
    drive(patchbay, other, **changed)
    assert said_of("Connect service", patchbay) == [("problem", sentence.format(url=other.url))]


@pytest.fixture
def openid(monkeypatch: pytest.MonkeyPatch) -> FakeOpenId:
    fake = FakeOpenId(FakeClock())
    monkeypatch.setattr(check, "OutboundClient", lambda *_, **__: fake.client)
    return fake


def looks(**env: str) -> list[tuple[str, str]]:
    return list(check.sign_in(Settings.from_env({**ENV, **env})))


def test_one_that_can_be_used(openid: FakeOpenId) -> None:
    ((verdict, sentence),) = looks()
    assert verdict == "ok" and "http://localhost/sign-in/oidc/callback" in sentence
    openid.facts = {"scopes_supported": ["openid", "email"]}
    (_, (verdict, sentence)) = looks()
    assert verdict == "note" and "advertise profile" in sentence
    assert list(check.sign_in(Settings.from_env({}))) == []


@pytest.mark.parametrize(
    "trouble",
    [
        {"down": True},
        {"facts": {"issuer": "https://other.example.com"}},
        {"facts": {"id_token_signing_alg_values_supported": ["HS256"]}},
        {"published": ()},
    ],
)
def test_one_that_cannot(openid: FakeOpenId, trouble: dict[str, Any]) -> None:
    for name, value in trouble.items():
        setattr(openid, name, value)
    ((verdict, sentence),) = looks()
    assert verdict == "problem" and "https://id.example.com" in sentence


def piece_looks(data: Path) -> list[Any]:
    return list(check.pieces(Settings.from_env({}, data=data)))


def test_the_server_of_mails(data: Path) -> None:
    server = MailServer("ada", "right one")
    with serving(server):
        found = SmtpServer("127.0.0.1", server.port, "", "", "none")
        settings = Settings.from_env({}, data=data, smtp_url=found, smtp_from="a@example.com")
        assert list(check.mails(settings)) == [("ok", "127.0.0.1 takes mail; it comes from a@example.com.")]
        wrong = replace(settings, smtp_url=found._replace(user="ada", password="wrong"))
        ((verdict, sentence),) = check.mails(wrong)
        assert (verdict, "PATCHBAY_SMTP_URL" in sentence, "wrong" in sentence) == ("problem", True, False)
    elsewhere = replace(settings, connect_url="https://api.example.com")
    assert [verdict for verdict, _ in check.mails(elsewhere)] == ["note"]
    assert list(check.mails(Settings.from_env({}, data=data))) == []


def test_node_and_each_integration_are_looked_at(
    patchbay: Commands, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    monkeypatch.setattr(node, "find", lambda: None)
    assert piece_looks(data) == [("note", node.MISSING)]
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "20.1.0"))
    patchbay.json("piece", "add", str(tarball(tmp_path)))
    assert piece_looks(data) == [("ok", "Node 20.1.0 runs them."), ("ok", "1 is complete on this machine.")]
    next(data.glob("pieces/packages/*/*/package-lock.json")).parent.rename(tmp_path / "gone")
    (_, (verdict, sentence)) = piece_looks(data)
    assert (verdict, sentence.endswith("Run `patchbay piece sync`, or start the worker again.")) == ("problem", True)
    monkeypatch.setattr(node, "find", lambda: None)
    assert piece_looks(data)[0] == ("problem", node.MISSING)
