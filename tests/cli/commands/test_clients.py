"""``patchbay client``: secrets are shown once, and never in lists."""

import json
from pathlib import Path

import pytest
from joserfc import jwk

from tests.cli.in_process import Commands


def test_clients_are_listed_without_their_secrets(patchbay: Commands) -> None:
    project = patchbay.json("project", "create", "--name", "Acme", "--support-email", "help@example.com")
    made = patchbay.json("client", "create", "--project", project["id"], "--scope", "connect:accounts:read")
    done = patchbay.run("client", "list", "--json")
    assert made["client_secret"] not in done.stdout
    (row,) = json.loads(done.stdout)["clients"]
    assert (row["client_id"], row["project_id"], row["scope"]) == (
        made["client_id"], project["id"], "connect:accounts:read",
    )  # fmt: skip
    assert made["client_id"] in patchbay.run("client", "list").stdout
    rotated = patchbay.json("client", "rotate", made["client_id"])
    assert rotated["client_secret"] != made["client_secret"]
    assert rotated["old_secret_ends_at"] is None
    again = patchbay.json("client", "rotate", made["client_id"], "--overlap", "24")
    assert again["old_secret_ends_at"] is not None
    assert patchbay.run("client", "end-old-secret", made["client_id"]).exit_code == 0
    assert patchbay.run("client", "delete", made["client_id"], input="n\n").exit_code == 1
    assert rotated["client_secret"] not in patchbay.run("client", "list", "--json").stdout
    patchbay.json("client", "delete", "--yes", made["client_id"])
    assert patchbay.json("client", "list")["clients"] == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("create", "--project", "proj_absent"), "Error: There is no such project."),
        (("create", "--scope", "everything"), "Error: 'everything' is not a scope."),
        (("rotate", "absent"), "Error: There is no OAuth client absent."),
        (("end-old-secret", "absent"), "Error: There is no OAuth client absent."),
        (("delete", "--yes", "absent"), "Error: There is no OAuth client absent."),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(patchbay: Commands, words: tuple[str, ...], sentence: str) -> None:
    assert patchbay.refused("client", *words) == sentence


def test_a_client_with_a_key_has_no_secret(patchbay: Commands, tmp_path: Path) -> None:
    key = jwk.ECKey.generate_key("P-256")
    for name, private in (("public.pem", False), ("private.pem", True)):
        (tmp_path / name).write_bytes(key.as_pem(private=private))
    made = patchbay.json("client", "create", "--key", str(tmp_path / "public.pem"))
    assert made["client_id"] and "client_secret" not in made
    refused = patchbay.refused("client", "create", "--key", str(tmp_path / "private.pem"))
    assert "This is a private key" in refused


def test_an_empty_list_says_what_to_do(patchbay: Commands) -> None:
    assert patchbay.run("client", "list").stdout == "There is no client yet; `patchbay client create` makes one.\n"
