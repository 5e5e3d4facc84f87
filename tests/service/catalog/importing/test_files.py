"""Files of an imported app: each is written once, in a version that follows the one before.

An import is written whole or not at all; what somebody did by hand stays, and names and accounts with it.

An app's folder is exchanged for another; a crash in the middle leaves the old one or the new one.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openapi_documents import planned, query
from webapp.errors import Conflict, Invalid, NotFound
from webapp.service.catalog.importing.files import (
    Files,
    Written,
    check_slug,
    listed,
    others,
    preview,
    remove,
    toml,
    versioned,
    write,
)
from webapp.service.catalog.importing.records import Options

PATHS: dict[str, Any] = {
    "/pets": {"get": {"operationId": "listPets"}, "post": {"operationId": "createPet"}},
    "/shops": {"get": {"operationId": "listShops"}},
}


def test_a_file_is_written_only_where_it_changes(tmp_path: Path) -> None:
    files = Files(tmp_path, None)
    assert files.put("a.toml", b"x = 1\n") is True
    assert files.put("a.toml", b"x = 1\n") is False
    assert list(files.digests) == ["a.toml"]


def test_an_actions_version_stands_behind_its_name() -> None:
    assert (
        toml(versioned({"name": "A\nb", "hints": "reads"}, "0.0.2"))
        == b'name = "A\\nb"\nversion = "0.0.2"\nhints = "reads"\n'
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path


def imported(data: Path, paths: dict[str, Any], **more: Any) -> Written:
    before = check_slug(data, "acme")
    plan = planned(paths, Options(), **more)
    return write(plan, data, before, "acme.json", 5)


def snapshot(data: Path) -> dict[str, bytes]:
    return {
        file.relative_to(data).as_posix(): file.read_bytes() for file in sorted(data.rglob("*.*")) if file.is_file()
    }


def test_an_app_is_written_whole(data: Path) -> None:
    written = imported(data, PATHS)
    assert written.added == ("get-me", "list-pets", "create-pet", "list-shops")
    folder = data / "apps" / "acme"
    assert sorted(file.name for file in folder.rglob("*.*")) == [
        "app.toml", "create-pet.toml", "get-me.toml", "import.json", "list-pets.toml", "list-shops.toml",
    ]  # fmt: skip
    action = tomllib.loads((folder / "actions" / "list-pets.toml").read_text("utf-8"))
    assert (action["version"], action["request"]) == ("0.0.1", {"method": "GET", "url": "/pets"})
    assert [each.slug for each in listed(data)] == ["acme"]
    assert not [entry for entry in data.iterdir() if entry.name.startswith(".importing-")]


def test_a_preview_writes_nothing(data: Path) -> None:
    assert preview(planned(PATHS), data, None).added[0] == "get-me"
    assert not (data / "apps").exists()


def test_the_same_document_again_changes_nothing(data: Path) -> None:
    imported(data, PATHS)
    before = snapshot(data)
    written = imported(data, PATHS)
    assert (written.added, written.changed, written.removed) == ((), (), ())
    assert len(written.same) == 4
    assert snapshot(data) == before


def test_what_changed_gets_a_new_version_and_what_is_gone_is_reported(data: Path) -> None:
    imported(data, PATHS)
    newer = {"/pets": {"get": {"operationId": "listPets", "parameters": [query("q", {})]}}, "/new": {"get": {}}}
    written = imported(data, newer)
    assert (written.added, written.changed, written.same) == (("get-new",), ("list-pets",), ("get-me",))
    assert written.removed == ("create-pet", "list-shops")
    action = tomllib.loads((data / "apps/acme/actions/list-pets.toml").read_text("utf-8"))
    assert action["version"] == "0.0.2"
    assert not (data / "apps/acme/actions/create-pet.toml").exists()


def test_what_somebody_changed_or_added_by_hand_stays(data: Path) -> None:
    imported(data, PATHS)
    folder = data / "apps" / "acme"
    for name in ("app.toml", "actions/list-pets.toml", "actions/list-shops.toml"):
        (folder / name).write_text((folder / name).read_text("utf-8") + "\n# Mine.\n", "utf-8")
    (folder / "actions" / "own.toml").write_text("# mine", "utf-8")
    assert others(data, "acme", check_slug(data, "acme")) == ("own",)
    written = imported(
        data, {"/pets": {"get": {"operationId": "listPets", "summary": "Other"}}}, info={"title": "Other"}
    )
    assert written.by_hand == ("actions/list-pets.toml", "actions/list-shops.toml", "app.toml")
    assert all("# Mine." in (folder / name).read_text("utf-8") for name in written.by_hand)
    assert (folder / "actions" / "own.toml").exists()
    with pytest.raises(Conflict, match="actions/list-shops"):
        remove(data, "acme")


def test_an_app_that_the_catalog_would_not_take_changes_nothing(data: Path) -> None:
    imported(data, PATHS)
    before = snapshot(data)
    plan = planned(PATHS, Options(category="nowhere"))
    with pytest.raises(Invalid, match="the category nowhere does not exist"):
        write(plan, data, check_slug(data, "acme"), "acme.json", 6)
    assert snapshot(data) == before


def test_an_action_that_cannot_be_written_is_reported_and_the_rest_continues(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "webapp.service.catalog.importing.files.examine",
        lambda path: (None, ["line 3: it is odd."] if path.stem == "list-pets" else []),
    )
    written = imported(data, PATHS)
    assert "list-pets" not in written.added
    assert written.plan.left[0].reason == "it cannot be written as an action: it is odd"
    assert "GET /pets" in json.loads((data / "apps/acme/import.json").read_text("utf-8"))["unsaid"]


def test_slugs_of_others_are_not_taken(data: Path) -> None:
    with pytest.raises(Conflict, match="built-in app with the slug github"):
        check_slug(data, "github")
    with pytest.raises(Invalid, match="lower case"):
        check_slug(data, "../x")
    (data / "apps" / "mine").mkdir(parents=True)
    with pytest.raises(Conflict, match="wrote the app mine yourself"):
        check_slug(data, "mine")


def test_an_app_is_removed_whole(data: Path) -> None:
    imported(data, PATHS)
    assert remove(data, "acme").slug == "acme"
    assert not (data / "apps" / "acme").exists()
    for slug in ("acme", "../.."):
        with pytest.raises(NotFound):
            remove(data, slug)
