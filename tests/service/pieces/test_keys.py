"""Slugs and keys of pieces: in lower case, and never those of somebody else."""

import pytest

from webapp.service.components.checker import NAME
from webapp.service.pieces import keys


@pytest.mark.parametrize(
    ("package", "slug"),
    [
        ("@acme/piece-google-sheets", "google_sheets"),
        ("piece-slack", "slack"),
        ("@acme/Tasks.v2", "tasks_v2"),
        ("@acme/piece-1password", "p_1password"),
        (f"piece-{'a' * 80}", "a" * 50),
    ],
)
def test_the_slug_follows_from_the_package(package: str, slug: str) -> None:
    assert keys.slug(package) == slug


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ("send_channel_message", "send-channel-message"),
        ("uploadFile", "upload-file"),
        ("get-URLs", "get-ur-ls"),
        ("new message in Channel!", "new-message-in-channel"),
        ("2fa", "part-2-fa"),
        ("___", "part"),
    ],
)
def test_the_name_of_a_component_is_one_that_the_catalog_takes(own: str, name: str) -> None:
    assert keys.component_name(own) == name
    assert NAME.fullmatch(name)


def test_a_name_that_is_taken_gets_a_number_and_keeps_it() -> None:
    taken = {"add-task", "add-task-2"}.__contains__
    names = keys.component_names(["add_task", "addTask", "other"], {}, taken)
    assert names == {"add_task": "add-task-3", "addTask": "add-task-4", "other": "other"}
    again = keys.component_names(["new", "addTask", "add_task"], names, lambda name: name != "new")
    assert {own: again[own] for own in names} == names
    assert again["new"] == "new"


def test_a_slug_that_is_taken_gets_a_number() -> None:
    assert keys.free_slug("a" * 50, {"a" * 50}.__contains__) == f"{'a' * 48}_2"
