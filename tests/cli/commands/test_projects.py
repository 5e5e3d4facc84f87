"""``patchbay project``: make and list projects."""

import pytest

from tests.cli.in_process import Commands
from webapp.cli.commands import projects as command


def test_bad_input_is_one_sentence_and_an_exit_code(patchbay: Commands) -> None:
    assert patchbay.refused("project", "create", "--name", " ") == (
        "Error: A project needs a name; give one with --name."
    )


def test_an_empty_list_says_what_to_do(patchbay: Commands) -> None:
    assert patchbay.run("project", "list").stdout == (
        "There is no project yet; `patchbay project create --name N` makes one.\n"
    )


def test_a_project_is_trimmed_and_stands_in_the_list(patchbay: Commands) -> None:
    words = ("project", "create", "--name", " Acme ", "--app-name", "Acme Inc. ", "--support-email", "a@b.example")
    acme = patchbay.json(*words)
    assert (acme["name"], acme["app_name"], acme["support_email"]) == ("Acme", "Acme Inc.", "a@b.example")
    plain = patchbay.json("project", "create", "--name", "Plain")
    assert patchbay.json("project", "list") == {
        "projects": [
            {"id": acme["id"], "name": "Acme", "app_name": "Acme Inc."},
            {"id": plain["id"], "name": "Plain", "app_name": "Plain"},
        ]
    }


def test_a_project_is_changed_and_what_is_left_out_stays(patchbay: Commands) -> None:
    acme = patchbay.json("project", "create", "--name", "Acme")
    changes = ("--app-name", "Acme Desk", "--support-email", "help@acme.example")
    expected = acme | {"app_name": "Acme Desk", "support_email": "help@acme.example"}
    assert patchbay.json("project", "update", acme["id"], *changes) == expected
    assert patchbay.refused("project", "update", "proj_absent", "--name", "x") == "Error: There is no such project."


def test_every_project_is_listed_however_many_pages_they_are(
    patchbay: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "MAX_LIMIT", 2)
    names = ["One", "Two", "Three", "Four", "Five"]
    for name in names:
        patchbay.json("project", "create", "--name", name)
    assert [project["name"] for project in patchbay.json("project", "list")["projects"]] == names
