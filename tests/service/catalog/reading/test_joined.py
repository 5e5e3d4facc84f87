"""Components that stand in a folder of their own and belong to an app that stands elsewhere."""

from pathlib import Path

import pytest

from tests.service.catalog.facts.samples import CATEGORIES, KEYS, TOKEN
from webapp.service.catalog.sources import Places, Source, read

VARIANT = f"""
slug = "acme_token"
of = "acme"
name = "Acme (token)"
auth_type = "keys"
{TOKEN}"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """An app that is built in, with one action."""
    write(tmp_path / "built in" / "acme" / "app.toml", KEYS)
    write(tmp_path / "built in" / "acme" / "actions" / "do-it" / "1.0.0.py", "1")
    write(tmp_path / "built in" / "categories.toml", CATEGORIES)
    write(tmp_path / "pieces" / "acme" / "app.toml", 'joins = "acme"')
    return Places(built_in=tmp_path / "built in", pieces=tmp_path / "pieces")


def keys(source: Source) -> list[str]:
    return [f"{component.key}@{component.version}" for component in source.components]


def test_they_are_components_of_that_app_in_each_version(places: Places, tmp_path: Path) -> None:
    for version in ("0.1.0", "0.2.0"):
        write(tmp_path / "pieces" / "acme" / "actions" / "do-more" / f"{version}.json", "{}")
    found = read(places)
    assert found.problems == []
    assert [source.spec.slug for source in found.apps] == ["acme"]
    assert keys(found.apps[0]) == ["acme-do-it@1.0.0", "acme-do-more@0.1.0", "acme-do-more@0.2.0"]
    assert found.apps[0].components[1].file.is_file()


def test_a_key_of_the_app_stays_its_own(places: Places, tmp_path: Path) -> None:
    write(tmp_path / "pieces" / "acme" / "actions" / "do-it" / "2.0.0.json", "{}")
    found = read(places)
    assert keys(found.apps[0]) == ["acme-do-it@1.0.0"]
    assert found.problems == [
        "acme/actions/do-it/2.0.0.json: its app has a component of this name already; give it another."
    ]


def test_an_app_that_is_gone_is_told(places: Places, tmp_path: Path) -> None:
    write(tmp_path / "pieces" / "acme" / "app.toml", 'joins = "zebra"')
    assert read(places).problems == ["acme/app.toml: joins: there is no app zebra."]


def test_another_way_to_connect_the_app_has_them_too(places: Places, tmp_path: Path) -> None:
    write(tmp_path / "pieces" / "acme" / "actions" / "do-more" / "0.1.0.json", "{}")
    write(tmp_path / "pieces" / "acme_token" / "app.toml", VARIANT)
    found = read(places)
    assert found.problems == []
    assert keys(found.apps[1]) == ["acme_token-do-it@1.0.0", "acme_token-do-more@0.1.0"]
