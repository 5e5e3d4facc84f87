"""What an operator's own app may leave out, and a shipped one may not."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.catalog.facts.samples import KEYS, OAUTH
from webapp.service.catalog.own_apps import with_sources
from webapp.service.catalog.sources import Places, read


def bare(text: str) -> str:
    """``text`` without where each fact was read, and without the address of the console."""
    return re.sub(r"^(source|sources|console_url) = .*\n", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("text", [KEYS, OAUTH], ids=["keys", "oauth"])
def test_sources_and_consoles_are_demanded_of_shipped_apps_alone(
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
