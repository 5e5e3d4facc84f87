"""``patchbay oauth-app``: clients at providers, whose secrets are never shown."""

import json
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
