"""``patchbay oauth-app``: clients at providers, whose secrets are never shown."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.in_process import Commands


def test_an_oauth_app_with_its_secret_from_standard_input(patchbay: Commands, data: Path) -> None:
    words = ("oauth-app", "add", "--app", "github", "--client-id", "Iv1.abc", "--scopes", "repo, read:user", "--json")
    done = patchbay.run(*words, input="canary-secret\n")
    assert done.exit_code == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["app"], made["client_id"], made["scopes"]) == ("github", "Iv1.abc", ["repo", "read:user"])
    assert made["redirect_uri"].startswith(f"http://localhost:{patchbay.env['PATCHBAY_PORT']}/")
    listed = patchbay.run("oauth-app", "list", "--json").stdout
    assert made["id"] in listed and "canary" not in listed + done.stdout
    assert not [path for path in data.rglob("*") if path.is_file() and b"canary-secret" in path.read_bytes()]


@pytest.mark.parametrize(
    ("app", "sentence"),
    [
        ("absent", "Error: There is no app 'absent' in the catalog; `patchbay catalog check` lists them."),
        ("stripe", "Error: Stripe does not use OAuth, so it needs no client."),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(patchbay: Commands, app: str, sentence: str) -> None:
    words = ("oauth-app", "add", "--app", app, "--client-id", "x", "--client-secret", "y")
    assert patchbay.refused(*words) == sentence


def test_an_empty_secret_is_a_public_client_of_one_project(patchbay: Commands, data: Path) -> None:
    project = patchbay.json("project", "create", "--name", "Acme")["id"]
    words = ("oauth-app", "add", "--app", "github", "--client-id", " Iv1.abc ", "--project", project, "--name", "Ours")
    added = patchbay.json(*words, input="  \n")
    assert (added["client_id"], added["name"], added["project_id"], added["scopes"]) == (
        "Iv1.abc", "Ours", project, [],
    )  # fmt: skip
    listed = patchbay.json("oauth-app", "list")["oauth_apps"]
    assert [(row["app"], row["project_id"]) for row in listed] == [("sandbox", None), ("github", project)]
    with closing(sqlite3.connect(data / "patchbay.db")) as database:
        sealed = "SELECT app, secret_sealed IS NOT NULL FROM provider_clients ORDER BY app"
        assert database.execute(sealed).fetchall() == [("github", 0), ("sandbox", 1)]


def test_a_client_of_no_project_is_refused(patchbay: Commands) -> None:
    words = ("oauth-app", "add", "--app", "github", "--client-id", "x", "--project", "proj_absent")
    assert patchbay.refused(*words, input="\n") == "Error: There is no such project."
