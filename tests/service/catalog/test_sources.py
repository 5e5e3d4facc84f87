"""Reading the sources: what cannot be read is left out with a sentence.

What an operator's own app may leave out, and a shipped one may not.

Components that stand in a folder of their own and belong to an app that stands elsewhere.

What stands in the catalog, and in none of its lists.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.samples import CATEGORIES, KEYS, OAUTH, TOKEN, write, write_component, write_two_apps
from webapp.kit.cursors import Window
from webapp.service.catalog import sources
from webapp.service.catalog.build import build, ensure
from webapp.service.catalog.components import ComponentFilter
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places, Source, read, with_sources

VARIANT = f"""
slug = "acme_token"
of = "acme"
name = "Acme (token)"
auth_type = "keys"
{TOKEN}"""


@pytest.fixture
def apps_folder(tmp_path: Path) -> Path:
    """Two apps, one with a component, and the categories."""
    return write_two_apps(tmp_path)


def test_apps_and_their_components_are_found(apps_folder: Path) -> None:
    found = read(Places(built_in=apps_folder))
    assert found.problems == []
    assert [source.spec.slug for source in found.apps] == ["acme", "globex"]
    (component,) = found.apps[0].components
    assert (component.key, component.version, component.kind) == ("acme-do-it", "1.0.0", "action")
    assert component.file.read_text() == "1"
    assert list(found.categories) == ["tools", "cafe"]


def test_what_cannot_be_read_is_left_out(apps_folder: Path) -> None:
    write(apps_folder / "acme" / "app.toml", "slug = ")
    write(apps_folder / "broken" / "app.toml", 'slug = "broken"')
    write(apps_folder / "globex" / "triggers" / "Bad Name" / "1.0.0.py", "1")
    write(apps_folder / "globex" / "triggers" / "good" / "1.0.py", "1")
    found = read(Places(built_in=apps_folder))
    assert [source.spec.slug for source in found.apps] == ["globex"]
    assert found.apps[0].components == ()
    assert any(problem.startswith("acme/app.toml: it cannot be read as TOML") for problem in found.problems)
    assert any(problem.startswith("broken/app.toml: name: field required") for problem in found.problems)
    assert sum("a component stands at" in problem for problem in found.problems) == 2


def test_a_category_that_stands_twice_is_reported(apps_folder: Path) -> None:
    write(apps_folder / "categories.toml", CATEGORIES + CATEGORIES)
    assert read(Places(built_in=apps_folder)).problems[0] == "categories.toml: the category tools stands here twice."


def test_own_components_belong_to_no_app(apps_folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own components"
    write(own / "mine" / "0.0.1.py", "1")
    write(own / "Mine" / "0.0.1.py", "1")
    found = read(Places(built_in=apps_folder, components=own))
    (component,) = found.components
    assert (component.key, component.app, component.kind) == ("~/mine", None, None)
    assert len(found.problems) == 1


def bare(text: str) -> str:
    """``text`` without where each fact was read, and without the address of the console."""
    return re.sub(r"^(source|sources|console_url) = .*\n", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("text", [KEYS, OAUTH], ids=["keys", "oauth"])
def test_sources_and_consoles_are_demanded_of_shipped_apps_only(
    folder: Path, tmp_path: Path, declare: Callable[[str, str], Path], text: str
) -> None:
    slug = "acme" if text is KEYS else "globex"
    declare(slug, bare(text))
    assert read(Places(built_in=folder)).problems != []
    own = read(Places(built_in=tmp_path / "none", own=[folder]))
    assert own.problems == []
    (source,) = own.apps
    spec = source.spec
    assert spec.test is not None
    assert {spec.docs_url} == {spec.test.source, *spec.sources, *(each.source for each in spec.credentials)}
    if spec.oauth:
        assert {spec.docs_url} == {*spec.oauth.sources, spec.oauth.client.source, spec.oauth.client.console_url}


def test_what_is_said_stays_and_without_documentation_nothing_is_made_up() -> None:
    said: dict[str, Any] = {"docs_url": "https://d.example", "test": {"url": "/me", "source": "https://s.example"}}
    assert with_sources(said)["test"] == said["test"]
    assert with_sources({"test": {"url": "/me"}}) == {"test": {"url": "/me"}}


def write_joining(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """An app that is built in, with one action."""
    write_joining(tmp_path / "built in" / "acme" / "app.toml", KEYS)
    write_joining(tmp_path / "built in" / "acme" / "actions" / "do-it" / "1.0.0.py", "1")
    write_joining(tmp_path / "built in" / "categories.toml", CATEGORIES)
    write_joining(tmp_path / "pieces" / "acme" / "app.toml", 'joins = "acme"')
    return Places(built_in=tmp_path / "built in", pieces=tmp_path / "pieces")


def keys(source: Source) -> list[str]:
    return [f"{component.key}@{component.version}" for component in source.components]


def test_they_are_components_of_that_app_in_each_version(places: Places, tmp_path: Path) -> None:
    for version in ("0.1.0", "0.2.0"):
        write_joining(tmp_path / "pieces" / "acme" / "actions" / "do-more" / f"{version}.json", "{}")
    found = read(places)
    assert found.problems == []
    assert [source.spec.slug for source in found.apps] == ["acme"]
    assert keys(found.apps[0]) == ["acme-do-it@1.0.0", "acme-do-more@0.1.0", "acme-do-more@0.2.0"]
    assert found.apps[0].components[1].file.is_file()


def test_a_key_of_the_app_stays_its_own(places: Places, tmp_path: Path) -> None:
    write_joining(tmp_path / "pieces" / "acme" / "actions" / "do-it" / "2.0.0.json", "{}")
    found = read(places)
    assert keys(found.apps[0]) == ["acme-do-it@1.0.0"]
    assert found.problems == [
        "acme/actions/do-it/2.0.0.json: its app has a component of this name already; give it another."
    ]


def test_an_app_that_is_gone_is_reported(places: Places, tmp_path: Path) -> None:
    write_joining(tmp_path / "pieces" / "acme" / "app.toml", 'joins = "zebra"')
    assert read(places).problems == ["acme/app.toml: joins: there is no app zebra."]


def test_another_way_to_connect_the_app_has_them_too(places: Places, tmp_path: Path) -> None:
    write_joining(tmp_path / "pieces" / "acme" / "actions" / "do-more" / "0.1.0.json", "{}")
    write_joining(tmp_path / "pieces" / "acme_token" / "app.toml", VARIANT)
    found = read(places)
    assert found.problems == []
    assert keys(found.apps[1]) == ["acme_token-do-it@1.0.0", "acme_token-do-more@0.1.0"]


def test_names_are_written_once(tmp_path: Path) -> None:
    assert sources.read_unlisted(None) == sources.read_unlisted(tmp_path / "apps") == []
    assert sources.write_unlisted(tmp_path / "apps", ["b", "a", "b"])
    assert not sources.write_unlisted(tmp_path / "apps", ["a", "b"])
    assert sources.read_unlisted(tmp_path / "apps") == ["a", "b"]
    assert not sources.write_unlisted(tmp_path / "none", [])


def test_it_is_found_by_its_name_and_listed_nowhere(
    folder: Path, declare: Callable[[str, str], Path], tmp_path: Path
) -> None:
    declare("acme", KEYS)
    own = tmp_path / "components"
    write_component(own, "greet/1.0.0.py")
    places = Places((), folder, own, tmp_path / "pieces")
    build(tmp_path / "catalog.db", places)
    sources.write_unlisted(tmp_path / "pieces", ["acme", "~/greet"])
    assert ensure(tmp_path / "catalog.db", places).built
    catalog = Catalog.open(tmp_path / "catalog.db", public_url="http://localhost:8000")
    everything = ComponentFilter.of(None, None, None, "all")
    assert catalog.app("acme") is not None
    assert catalog.component("~/greet") is not None
    assert catalog.search().total_count == catalog.components(everything, Window()).total_count == 0
    assert catalog.categories() == []
    assert [*catalog.tool_names().of_apps([]), *catalog.tool_names().without_app] == []
    assert catalog.tool_names().of_name("greet") == ("greet", "~/greet", "acme")
    catalog.close()
