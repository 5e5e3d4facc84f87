"""Dropbox's components in Python, against a fake written from
https://www.dropbox.com/developers/documentation/http/documentation."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, FakeAnswer
from tests.service.catalog.components.trigger_harness import logged


def file(name: str, rev: str = "1") -> dict[str, Any]:
    modified = f"2030-01-31T08:00:0{rev}Z"
    return {".tag": "file", "id": f"id:{name}", "rev": rev, "path_display": f"/{name}", "server_modified": modified}


@pytest.fixture
def dropbox(desk_of: Callable[..., AppHarness], monkeypatch: pytest.MonkeyPatch) -> AppHarness:
    harness = desk_of("dropbox", oauth_access_token="token")
    harness.on(
        "POST /files/list_folder", {"entries": [file("a"), {".tag": "folder"}], "cursor": "c1", "has_more": True}
    )
    harness.on("POST /files/list_folder/get_latest_cursor", {"cursor": "now"})
    harness.on("POST /files/list_folder/continue", {"entries": [file("b", "2")], "cursor": "c2", "has_more": False})
    return harness


def test_a_folder_is_listed_page_by_page(dropbox: AppHarness) -> None:
    reply = dropbox.run("list-file-folders-in-a-folder", folder="/x", most=3)
    assert [entry.get("path_display") for entry in reply.value] == ["/a", None, "/b"]
    assert reply.exports["$summary"] == "Listed 3 files"
    assert dropbox.provider.asked[0].json == {"path": "/x", "recursive": False, "limit": 3}
    assert dropbox.last.json == {"cursor": "c1"}


def test_new_files_are_told_from_the_cursor_on(dropbox: AppHarness) -> None:
    trigger = dropbox.trigger("new-file", folder="", recursive=True)
    assert [told.summary for told in trigger.deploy()] == ["/a", "/b"]
    assert trigger.state["cursor"] == "now"
    deleted = {".tag": "deleted", "path_display": "/d"}
    dropbox.on("POST /files/list_folder/continue", {"entries": [file("c", "3"), deleted], "cursor": "c3"})
    assert [told.id for told in trigger.tick()] == ["id:c-3"]
    assert trigger.state["cursor"] == "c3"


def test_a_cursor_that_is_forgotten_is_replaced(dropbox: AppHarness) -> None:
    trigger = dropbox.trigger("new-file", folder="", recursive=True)
    trigger.state["cursor"] = "old"
    dropbox.on("POST /files/list_folder/continue", FakeAnswer(409, {"error_summary": "reset/"}))
    reply = trigger.call("run", {"timestamp": 0, "interval_seconds": 300})
    assert reply.error is None and "from now on" in logged(reply)
    assert trigger.state["cursor"] == "now"


def test_a_file_takes_either_a_text_or_a_place(dropbox: AppHarness) -> None:
    assert dropbox.refuses("upload-file", path="/a.txt") == "Enter either a file or a text."
    assert "no file b.txt" in dropbox.refuses("upload-file", path="/a.txt", file="b.txt")


def test_contents_go_with_their_argument_in_a_header(dropbox: AppHarness) -> None:
    dropbox.on("POST /files/upload", file("Grüße.txt"))
    reply = dropbox.run("upload-file", path="/Grüße.txt", text="Schön", mode="add")
    assert json.loads(dropbox.last.headers["dropbox-api-arg"]) == {
        "path": "/Grüße.txt",
        "mode": "add",
        "autorename": True,
    }
    assert (dropbox.last.body.decode(), reply.exports["$summary"]) == ("Schön", "Uploaded /Grüße.txt (6 bytes)")
    dropbox.on("POST /files/download", b"a,b")
    assert dropbox.run("download-file", path="/x/a.csv").value == {"name": "a.csv", "size": 3}
    assert json.loads(dropbox.last.headers["dropbox-api-arg"]) == {"path": "/x/a.csv"}
