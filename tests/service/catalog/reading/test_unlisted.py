"""What stands in the catalog, and in none of its lists."""

from collections.abc import Callable
from pathlib import Path

from tests.service.catalog.facts.samples import KEYS, write_component
from webapp.kit.cursors import Window
from webapp.service.catalog.build import build, ensure
from webapp.service.catalog.component_search import ComponentFilter
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.reading import unlisted
from webapp.service.catalog.sources import Places


def test_names_are_written_once(tmp_path: Path) -> None:
    assert unlisted.read(None) == unlisted.read(tmp_path / "apps") == []
    assert unlisted.write(tmp_path / "apps", ["b", "a", "b"])
    assert not unlisted.write(tmp_path / "apps", ["a", "b"])
    assert unlisted.read(tmp_path / "apps") == ["a", "b"]
    assert not unlisted.write(tmp_path / "none", [])


def test_it_is_found_by_its_name_and_listed_nowhere(
    folder: Path, declare: Callable[[str, str], Path], tmp_path: Path
) -> None:
    declare("acme", KEYS)
    own = tmp_path / "components"
    write_component(own, "greet/1.0.0.py")
    places = Places((), folder, own, tmp_path / "pieces")
    build(tmp_path / "catalog.db", places)
    unlisted.write(tmp_path / "pieces", ["acme", "~/greet"])
    assert ensure(tmp_path / "catalog.db", places).built
    catalog = Catalog.open(tmp_path / "catalog.db", public_url="http://localhost:8000")
    everything = ComponentFilter.of(None, None, None, "all")
    assert catalog.app("acme") is not None
    assert catalog.component("~/greet") is not None
    assert catalog.search().total_count == catalog.components(everything, Window()).total_count == 0
    assert catalog.categories() == []
    assert catalog.tool_names().of_apps([]) == list(catalog.tool_names().without_app) == []
    assert catalog.tool_names().by_key["~/greet"].name == "greet"
    catalog.close()
