"""Reading the sources: what cannot be read is left out with a sentence."""

from pathlib import Path

import pytest

from tests.service.catalog.facts.samples import CATEGORIES, write, write_two_apps
from webapp.service.catalog.sources import Places, read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two apps, one with a component, and the categories."""
    return write_two_apps(tmp_path)


def test_apps_and_their_components_are_found(folder: Path) -> None:
    found = read(Places(built_in=folder))
    assert found.problems == []
    assert [source.spec.slug for source in found.apps] == ["acme", "globex"]
    (component,) = found.apps[0].components
    assert (component.key, component.version, component.kind) == ("acme-do-it", "1.0.0", "action")
    assert component.file.read_text() == "1"
    assert list(found.categories) == ["tools", "cafe"]


def test_what_cannot_be_read_is_left_out(folder: Path) -> None:
    write(folder / "acme" / "app.toml", "slug = ")
    write(folder / "broken" / "app.toml", 'slug = "broken"')
    write(folder / "globex" / "triggers" / "Bad Name" / "1.0.0.py", "1")
    write(folder / "globex" / "triggers" / "good" / "1.0.py", "1")
    found = read(Places(built_in=folder))
    assert [source.spec.slug for source in found.apps] == ["globex"]
    assert found.apps[0].components == ()
    assert any(problem.startswith("acme/app.toml: it cannot be read as TOML") for problem in found.problems)
    assert any(problem.startswith("broken/app.toml: name: field required") for problem in found.problems)
    assert sum("a component stands at" in problem for problem in found.problems) == 2


def test_a_category_that_stands_twice_is_told(folder: Path) -> None:
    write(folder / "categories.toml", CATEGORIES + CATEGORIES)
    assert read(Places(built_in=folder)).problems[0] == "categories.toml: the category tools stands here twice."


def test_own_components_belong_to_no_app(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own components"
    write(own / "mine" / "0.0.1.py", "1")
    write(own / "Mine" / "0.0.1.py", "1")
    found = read(Places(built_in=folder, components=own))
    (component,) = found.components
    assert (component.key, component.app, component.kind) == ("~/mine", None, None)
    assert len(found.problems) == 1
