"""The commands that scripts rely on: what they print, and how they refuse."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest


def test_init_is_idempotent_and_makes_what_is_missing(shell: Any) -> None:
    project = shell.json("project", "create", "--name", "Acme")
    person = shell.json("client", "create")
    first = shell.json("init")
    assert list(first) == ["project_id", "client_id", "client_secret", "base_url"]
    assert first["project_id"] == project["id"]
    assert first["client_id"] != person["client_id"]
    assert first["base_url"] == f"http://localhost:{shell.env['PATCHBAY_PORT']}"
    assert shell.json("init") == first
    assert len(shell.json("project", "list")["projects"]) == 1


def test_init_prints_the_rotated_secret(shell: Any) -> None:
    before = shell.json("init")
    rotated = shell.json("client", "rotate", before["client_id"])
    assert rotated["client_secret"] != before["client_secret"]
    assert shell.json("init")["client_secret"] == rotated["client_secret"]


def test_clients_are_listed_without_their_secrets(shell: Any) -> None:
    project = shell.json("project", "create", "--name", "Acme", "--support-email", "help@example.com")
    made = shell.json("client", "create", "--project", project["id"], "--scope", "connect:accounts:read")
    done = shell.run("client", "list", "--json")
    assert made["client_secret"] not in done.stdout
    (row,) = json.loads(done.stdout)["clients"]
    assert (row["client_id"], row["project_id"], row["scope"]) == (
        made["client_id"], project["id"], "connect:accounts:read",
    )  # fmt: skip
    assert made["client_id"] in shell.run("client", "list").stdout
    rotated = shell.json("client", "rotate", made["client_id"])
    assert rotated["client_secret"] != made["client_secret"]
    assert rotated["client_secret"] not in shell.run("client", "list", "--json").stdout


def test_a_user(shell: Any) -> None:
    words = ("user", "create", "--email", "Alice@Example.com", "--password", "a good long one", "--role", "owner")
    made = shell.json(*words)
    assert (made["email"], made["role"]) == ("alice@example.com", "owner")
    assert made["api_key"].startswith("pbk_")
    another = shell.json("user", "api-key", "--email", "alice@example.com")
    assert another["id"] == made["id"] and another["api_key"] != made["api_key"]
    assert "Nobody signs in as" in shell.refused("user", "api-key", "--email", "bob@example.com")
    assert "already has a login" in shell.refused(*words)
    assert [one["email"] for one in shell.json("user", "list")["users"]] == ["alice@example.com"]


def test_an_oauth_app_with_its_secret_from_standard_input(shell: Any, data: Path) -> None:
    words = ("oauth-app", "add", "--app", "github", "--client-id", "Iv1.abc", "--scopes", "repo, read:user", "--json")
    done = shell.run(*words, input="canary-secret\n")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["app"], made["client_id"], made["scopes"]) == ("github", "Iv1.abc", ["repo", "read:user"])
    assert made["redirect_uri"].startswith(f"http://localhost:{shell.env['PATCHBAY_PORT']}/")
    listed = shell.run("oauth-app", "list", "--json").stdout
    assert made["id"] in listed and "canary" not in listed + done.stdout
    assert not [path for path in data.rglob("*") if path.is_file() and b"canary-secret" in path.read_bytes()]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("project", "create", "--name", " "), "needs a name"),
        (("client", "create", "--project", "proj_absent"), "no such project"),
        (("client", "create", "--scope", "everything"), "everything"),
        (("client", "rotate", "absent"), "absent"),
        (("user", "create", "--email", "nobody", "--password", "a good long one"), "not an e-mail address"),
        (("user", "create", "--email", "a@example.com", "--password", "short"), "at least"),
        (("user", "create", "--email", "a@example.com", "--password", "a good long one", "--role", "king"), "king"),
        (("oauth-app", "add", "--app", "absent", "--client-id", "x", "--client-secret", "y"), "no app 'absent'"),
        (("oauth-app", "add", "--app", "stripe", "--client-id", "x", "--client-secret", "y"), "does not use OAuth"),
        (("serve", "--port", "0"), "0"),
        (("fly",), "fly"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_sentence_and_an_exit_code(shell: Any, words: tuple[str, ...], part: str) -> None:
    assert part in shell.refused(*words)


def test_migrate_says_what_it_applied(shell: Any) -> None:
    assert shell.json("migrate")["applied"]
    assert shell.json("migrate")["applied"] == []


def test_the_catalog_is_sound_and_can_be_built(shell: Any, data: Path) -> None:
    (data / "catalog.db").unlink()
    checked = shell.json("catalog", "check")
    assert checked["problems"] == []
    assert {"github", "slack", "notion", "stripe", "openai"} <= {row["slug"] for row in checked["apps"]}
    assert shell.json("catalog", "build")["apps"] == len(checked["apps"])
    assert (data / "catalog.db").is_file()


def test_check_is_content_with_a_new_and_with_a_used_folder(shell: Any, data: Path) -> None:
    assert shell.json("check")["ok"]
    shell.json("init")
    found = shell.json("check")
    assert found["ok"] and {one["subject"] for one in found["findings"]} == {
        "settings", "SQLite", "data folder", "database", "catalog", "components", "ports",
    }  # fmt: skip


def test_check_says_that_code_of_components_is_not_confined(shell: Any) -> None:
    shell.json("component", "new", "say-hello")
    (note,) = (one for one in shell.json("check")["findings"] if one["subject"] == "components")
    assert note["verdict"] == "note" and note["sentence"].startswith("1 of your own.")
    assert "can read the key" in note["sentence"] and "Install only code you trust." in note["sentence"]


def test_check_finds_what_is_wrong(shell: Any, data: Path) -> None:
    shell.json("init")
    (data / "keys").chmod(0o644)
    done = shell.run("check")
    assert done.returncode == 1 and "chmod 600" in done.stdout
    with socket.create_server(("127.0.0.1", 0)) as taken:
        shell.env = {**shell.env, "PATCHBAY_MAIL_PORT": str(taken.getsockname()[1])}
        assert "set PATCHBAY_MAIL_PORT to another" in shell.run("check").stdout
    shell.env = {**shell.env, "PATCHBAY_PORT": "no"}
    done = shell.run("check", "--json")
    assert done.returncode == 1 and "PATCHBAY_PORT" in json.loads(done.stdout)["findings"][0]["sentence"]


def test_every_command_says_what_it_does(shell: Any) -> None:
    shown = shell.run("--help").stdout
    for name in ("serve", "web", "worker", "init", "migrate", "project", "client", "user", "oauth-app", "catalog",
                 "keys", "backup", "restore", "check"):  # fmt: skip
        assert f"\n  {name} " in shown
