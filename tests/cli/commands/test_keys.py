"""``patchbay keys rotate``: new data keys, or a new instance key, which then opens what was sealed before."""

from pathlib import Path

import pytest

from tests.cli.in_process import Commands


@pytest.fixture
def secret_key(patchbay: Commands) -> str:
    """The instance key of the environment, over a folder that was opened with it."""
    patchbay.env["PATCHBAY_SECRET_KEY"] = key = "oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD"
    patchbay.json("init")
    return key


def test_new_data_keys_leave_what_is_sealed_readable(patchbay: Commands) -> None:
    words = ("oauth-app", "add", "--app", "github", "--client-id", "x", "--client-secret", "canary", "--json")
    assert patchbay.run(*words).exit_code == 0
    report = patchbay.json("keys", "rotate")
    assert (report["resumed"], report["provider_clients"], report["unreadable"]) == (False, 2, 0), "the sandbox's too"
    done = patchbay.run("keys", "rotate")
    sentence = "Everything is sealed with new keys; the old keys are deleted. Sealed again:"
    assert done.stdout.splitlines()[0] == sentence


def test_the_key_in_the_file_is_replaced(patchbay: Commands, data: Path) -> None:
    before = (patchbay.json("init"), (data / "keys").read_bytes())
    done = patchbay.run("keys", "rotate", "--instance", input="nobody is asked for one\n")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == (
        f"The new key is in {data / 'keys'}. Access tokens have ended, `patchbay init` prints a new secret, and older "
        "backups open with the old key only: make a new one."
    )
    assert (data / "keys").read_bytes() != before[1]
    assert patchbay.json("init")["client_secret"] != before[0]["client_secret"]


def test_the_key_of_the_environment_is_replaced_by_the_one_at_standard_input(
    patchbay: Commands, secret_key: str
) -> None:
    done = patchbay.run("keys", "rotate", "--instance", input="nF6yB1gJ8uS3eX5dQ0vT7kA2wZ9hM4cRpL" + "\n")
    assert done.exit_code == 0
    assert done.stdout.startswith("Set PATCHBAY_SECRET_KEY to the new key before you start. Access tokens have ended")
    assert "nF6yB1gJ8uS3eX5dQ0vT7kA2wZ9hM4cRpL" not in done.stdout + done.stderr
    assert "does not open this database" in patchbay.refused("init")
    patchbay.env["PATCHBAY_SECRET_KEY"] = "nF6yB1gJ8uS3eX5dQ0vT7kA2wZ9hM4cRpL"
    assert patchbay.json("init")["client_id"]


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (
            "short",
            "Error: PATCHBAY_SECRET_KEY must be at least 32 characters long; `openssl rand -hex 32` makes a good one.",
        ),
        ("oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD", "Error: Give a new key that differs from PATCHBAY_SECRET_KEY."),
    ],
    ids=["short", "the same"],
)
def test_a_key_that_does_not_do_is_refused(patchbay: Commands, secret_key: str, key: str, sentence: str) -> None:
    assert patchbay.refused("keys", "rotate", "--instance", input=key + "\n") == sentence
    assert patchbay.json("init")["client_id"]


def test_a_folder_without_a_database_is_refused(patchbay: Commands, data: Path) -> None:
    assert patchbay.refused("keys", "rotate", "--instance") == (
        f"Error: There is no database in {data}; check PATCHBAY_DATA."
    )
