"""Another way to connect an app: it has the facts and the components of the other one, and its own sign-in."""

from pathlib import Path

import orjson
import pytest

from tests.service.catalog.samples import CATEGORIES, KEYS
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.sources import Places, Source, Sources, read

VARIANT = """
slug = "acme_token"
of = "acme"
name = "Acme (token)"
auth_type = "keys"
base_url = "https://{subdomain}.acme.example/v2"
fields = [{ name = "subdomain", label = "Subdomain" }, { name = "token", label = "Token", secret = true }]

[[credentials]]
place = "bearer"
value = "{token}"
source = "https://docs.acme.example/auth"
"""
SHIPPED = {source.spec.slug: source for source in read(Places()).apps if source.spec.of}


def sources(folder: Path, text: str) -> Sources:
    files = {"acme/app.toml": KEYS, "acme/actions/do-it/1.0.0.py": "1", "acme_token/app.toml": text}
    files |= {"acme_token/actions/more/1.0.0.py": "1", "categories.toml": CATEGORIES}
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return read(Places(built_in=folder))


def test_it_takes_what_it_does_not_say_itself(tmp_path: Path) -> None:
    found = sources(tmp_path, VARIANT)
    assert found.problems == []
    base, variant = (source.spec for source in found.apps)
    assert (variant.name, variant.base_url) == ("Acme (token)", "https://{subdomain}.acme.example/v2")
    assert (variant.description, variant.test, variant.logo) == (base.description, base.test, base.logo)
    assert [field.name for field in variant.fields] == ["subdomain", "token"]
    assert [credential.place for credential in variant.credentials] == ["bearer"]


def test_it_has_the_components_of_the_other_under_its_own_keys(tmp_path: Path) -> None:
    base, variant = sources(tmp_path, VARIANT).apps
    assert [component.key for component in base.components] == ["acme-do-it"]
    assert _keys(variant) == {"acme_token-do-it": "acme", "acme_token-more": None}
    assert {component.app for component in variant.components} == {"acme_token"}
    assert variant.components[-1].file == base.components[0].file


def _keys(source: Source) -> dict[str, str | None]:
    return {component.key: component.of for component in source.components}


@pytest.mark.parametrize("of", ["nobody", "acme_token"])
def test_the_other_one_must_stand_by_itself(tmp_path: Path, of: str) -> None:
    found = sources(tmp_path, VARIANT.replace('of = "acme"', f'of = "{of}"'))
    assert [source.spec.slug for source in found.apps] == ["acme"]
    assert found.problems == [f"acme_token/app.toml: of: there is no app {of} that is connected in a way of its own."]


@pytest.mark.parametrize("slug", SHIPPED)
def test_each_that_is_shipped_can_do_what_the_other_can(shipped: Catalog, slug: str) -> None:
    source = SHIPPED[slug]
    app, other = shipped.app(slug), shipped.app(source.spec.of or "")
    assert app is not None and other is not None
    assert (app.auth_type, app.actions, app.triggers) == ("oauth", other.actions, other.triggers)
    ways, of_other = ([way for way in shipped.ways(one) if not way.server] for one in (app, other))
    assert (ways, of_other) == ([other], [app])
    for each in source.components:
        component = shipped.component(each.key)
        assert component is not None
        props = orjson.loads(component.json)["configurable_props"]
        assert {prop["app"] for prop in props if prop["type"] == "app"} == {slug}
