"""The public directory over the API: which one is here, and what a search of it gives, for the whole workspace only."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.public_directory import brought
from webapp.service.directory import directory

ALL, DOWNLOAD = "/v1/directory", "/v1/directory/download"


@pytest.fixture
def _brought(world: Any, tmp_path: Path) -> Iterator[None]:
    data = world.service.settings.data
    brought(data, tmp_path)
    yield
    directory.remove(data)


def test_without_one_there_is_nothing(world: Any) -> None:
    assert world.get(f"{ALL}?q=acme", world.server()).json == {"data": [], "directory": None, "download": None}


@pytest.mark.usefixtures("_brought")
def test_a_search_gives_documents_and_which_directory_it_is(world: Any) -> None:
    answer = world.get(f"{ALL}?q=list+orders", world.server()).json
    (found,) = answer["data"]
    assert found == {
        "name": "acme.io", "title": "Acme Shop", "version": "1", "description": "Orders of a shop.",
        "hosts": ["api.acme.io"], "categories": [], "operations": 2, "size": found["size"], "app": "", "slug": "acme",
    }  # fmt: skip
    facts = answer["directory"]
    assert (facts["version"], facts["documents"], facts["left_out"]) == ("1.3.17", 103, ["empty.io"])
    assert facts["published_at"] == "2020-09-13T12:26:40.000Z"
    assert len(world.get(f"{ALL}?q=filler&limit=7", world.server()).json["data"]) == 7
    assert world.get(ALL, world.server()).json == {"data": [], "directory": facts, "download": None}


def test_it_is_brought_by_the_worker_stopped_and_removed(world: Any, tmp_path: Path) -> None:
    begun = world.call("PUT", DOWNLOAD, world.server())
    assert (begun.status_code, begun.json["state"], begun.json["step"]) == (200, "waiting", "looking")
    assert world.get(ALL, world.server()).json["download"] == begun.json
    assert world.call("PUT", DOWNLOAD, world.server()).json == begun.json
    refused = world.call("DELETE", ALL, world.server())
    assert (refused.status_code, "being brought" in refused.json["error"]) == (409, True)
    for _ in range(2):
        assert world.call("DELETE", DOWNLOAD, world.server()).status_code == 204
    assert world.call("DELETE", ALL, world.server()).status_code == 404
    brought(world.service.settings.data, tmp_path)
    assert world.call("DELETE", ALL, world.server()).status_code == 204
    assert world.get(ALL, world.server()).json["directory"] is None


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "q=" + "x" * 401])
def test_bad_queries_are_refused(world: Any, query: str) -> None:
    assert world.get(f"{ALL}?{query}", world.server()).status_code == 400
