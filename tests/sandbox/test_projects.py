"""The projects: seeded once and alike everywhere, found by id, and searched page by page."""

from pathlib import Path

import pytest

from webapp.sandbox.projects import COUNT, FIELDS, Projects
from webapp.sandbox.store import Store, Window


@pytest.fixture
def projects(tmp_path: Path) -> Projects:
    return Projects(Store(tmp_path))


def test_they_are_seeded_once_and_alike(projects: Projects, tmp_path: Path) -> None:
    again, elsewhere = Projects(Store(tmp_path)), Projects(Store(tmp_path / "elsewhere"))
    assert projects.all() == again.all() == elsewhere.all()
    assert len({project.name for project in projects.all()}) == COUNT
    keys = {field["key"] for project in projects.all() for field in project.fields}
    assert keys == {field["key"] for field in FIELDS}


def test_one_is_found_by_id(projects: Projects) -> None:
    found = projects.get("prj_003")
    assert found is not None
    assert found.to_json() == {"id": "prj_003", "name": found.name, "field_count": 2}
    assert [projects.get(other) for other in ("prj_000", "prj_201", "", "' OR 1=1 --")] == [None] * 4


def test_a_search_is_in_any_case_and_in_pages(projects: Projects) -> None:
    first, second = (projects.search("GARDEN", Window(number, 15)) for number in (1, 2))
    assert (first.total, len(first.items), len(second.items)) == (20, 15, 5)
    names = [project.name for project in (*first.items, *second.items)]
    assert names == sorted(names)
    assert all("Garden" in name for name in names)
    assert projects.search("%", Window(1, 15)).total == 0
