"""``patchbay oauth-app``: clients at providers, whose secrets are never shown."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.in_process import Commands
from webapp.service.domain.accounts import events_secrets, oauth_apps
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings


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
        ("openai", "Error: OpenAI does not use OAuth, so it needs no client."),
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


def test_the_secret_of_events_and_where_they_come(patchbay: Commands, data: Path) -> None:
    slack = patchbay.json("oauth-app", "add", "--app", "slack", "--client-id", "c", "--client-secret", "s")["id"]
    told = patchbay.json("oauth-app", "events", slack, input="canary-events\n")
    assert told["uri"].endswith(f"/h/app/slack/{slack}")
    assert (told["address_name"], told["secret_name"], told["has_secret"]) == ("Request URL", "Signing Secret", True)
    assert not [path for path in data.rglob("*") if path.is_file() and b"canary-events" in path.read_bytes()]
    github = patchbay.json("oauth-app", "add", "--app", "github", "--client-id", "c", "--client-secret", "s")["id"]
    assert patchbay.refused("oauth-app", "events", github) == (
        "Error: GitHub has no events that come to its OAuth client."
    )


def test_the_topic_of_a_client(patchbay: Commands) -> None:
    gmail = patchbay.json("oauth-app", "add", "--app", "gmail", "--client-id", "c", "--client-secret", "s")["id"]
    assert "such as projects/acme-mail/topics/gmail" in patchbay.refused("oauth-app", "events", gmail, input="gmail\n")
    told = patchbay.json("oauth-app", "events", gmail, input="projects/acme-mail/topics/gmail\n")
    assert (told["secret_name"], told["has_secret"], told["uri"].endswith(f"/h/app/gmail/{gmail}")) == (
        "Topic", True, True,
    )  # fmt: skip


def test_the_secret_that_the_provider_sent_is_shown_once(patchbay: Commands, data: Path) -> None:
    notion = patchbay.json("oauth-app", "add", "--app", "notion", "--client-id", "c", "--client-secret", "s")["id"]
    assert "has sent nothing yet" in patchbay.refused("oauth-app", "events", notion, "--sent")
    service = open_service(Settings.from_env({}, data=data))
    events_secrets.keep_handshake(service, oauth_apps.get(service.store, notion), "canary-sent")
    close_service(service)
    assert patchbay.json("oauth-app", "events", notion, "--sent") == {"events_secret": "canary-sent"}
    assert patchbay.json("oauth-app", "events", notion, input="\n")["has_secret"]
