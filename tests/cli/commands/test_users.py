"""``patchbay user``: logins and their API keys."""

import pytest

from tests.cli.in_process import Commands


def test_a_user(patchbay: Commands) -> None:
    words = ("user", "create", "--email", "Alice@Example.com", "--password", "a good long one", "--role", "owner")
    made = patchbay.json(*words)
    assert (made["email"], made["role"]) == ("alice@example.com", "owner")
    assert made["api_key"].startswith("pbk_")
    another = patchbay.json("user", "api-key", "--email", "alice@example.com")
    assert another["id"] == made["id"] and another["api_key"] != made["api_key"]
    assert "Nobody signs in as" in patchbay.refused("user", "api-key", "--email", "bob@example.com")
    assert "already has a login" in patchbay.refused(*words)
    assert [one["email"] for one in patchbay.json("user", "list")["users"]] == ["alice@example.com"]


def test_a_login_is_changed_and_removed(patchbay: Commands) -> None:
    owner, member = ("--email", "ada@example.com"), ("--email", "bob@example.com")
    patchbay.json("user", "create", *owner, "--password", "a good long one", "--role", "owner")
    patchbay.json("user", "create", *member, "--password", "a good long one")
    assert patchbay.json("user", "role", *member, "--role", "developer")["role"] == "developer"
    assert patchbay.json("user", "disable", *member)["enabled"] is False
    assert "is disabled" in patchbay.refused("user", "reset-link", *member)
    assert patchbay.json("user", "enable", *member)["enabled"] is True
    assert "/new-password?token=" in patchbay.json("user", "reset-link", *member)["url"]
    assert patchbay.json("user", "end-sessions", *member)["ended"] == 0
    assert patchbay.json("user", "reset-two-step", *member)["was_on"] is False
    for words in (("role", *owner, "--role", "member"), ("disable", *owner), ("remove", "--yes", *owner)):
        assert "only owner" in patchbay.refused("user", *words)
    assert patchbay.run("user", "remove", *member, input="n\n").exit_code == 1
    patchbay.json("user", "remove", "--yes", *member)
    assert [one["email"] for one in patchbay.json("user", "list")["users"]] == ["ada@example.com"]
    assert "Nobody signs in as" in patchbay.refused("user", "disable", *member)


def test_people_are_invited(patchbay: Commands) -> None:
    patchbay.json("user", "create", "--email", "ada@example.com", "--password", "a good long one", "--role", "owner")
    invited = patchbay.json("user", "invite", "--email", "lee@example.com", "--email", "Kim@example.com")["invitations"]
    assert [(one["email"], one["role"]) for one in invited] == [
        ("lee@example.com", "member"), ("kim@example.com", "member"),
    ]  # fmt: skip
    assert all("/invitation?token=" in one["url"] for one in invited)
    assert "already has a login" in patchbay.refused("user", "invite", "--email", "ada@example.com")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"--email": "nobody"}, "Error: That is not an e-mail address; write it as name@example.com."),
        ({"--password": "short"}, "Error: Use at least 10 characters; a few words make a good one."),
        (
            {"--role": "king"},
            "Error: Invalid value for '--role': 'king' is not one of 'owner', 'developer', 'member'.",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(patchbay: Commands, options: dict[str, str], sentence: str) -> None:
    sound = {"--email": "a@example.com", "--password": "a good long one"}
    assert patchbay.refused("user", "create", *sum((sound | options).items(), ())) == sentence


def test_the_password_is_asked_for_where_it_is_left_out(patchbay: Commands) -> None:
    done = patchbay.run("user", "create", "--email", "a@example.com", input="a good long one\n")
    assert done.exit_code == 0
    assert done.stdout.startswith("The login was made. Its API key is shown this once.\n"), "the question is no result"
    assert done.stderr.startswith("Password: ")
    assert "a good long one" not in done.stdout + done.stderr
