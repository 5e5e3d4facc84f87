"""Apps that an npm package brought: tested by it, and other ways to connect an app that it has parts for."""

from typing import Any

import pytest

from tests.service.catalog.facts.samples import KEYS
from webapp.service.catalog.facts import pieces, variants
from webapp.service.catalog.rules import problems
from webapp.service.catalog.spec import AppSpec, Category

BROUGHT: dict[str, Any] = {
    "slug": "acme_token", "of": "acme", "name": "Acme (token)", "auth_type": "keys", "docs_url": "https://npm.example/x",
    "fields": [{"name": "token", "label": "Token", "secret": True}],
    "test": {"kind": "piece", "source": "https://npm.example/x"},
    "piece": {"package": "@acme/piece-acme", "folder": "packages/piece-acme/0.2.0", "auth": {"type": "SECRET_TEXT"}},
}  # fmt: skip
BASE: dict[str, Any] = {
    "slug": "acme", "description": "Rockets.", "categories": ["tools"], "logo": {"letter": "A", "color": "#aa3300"},
    "base_url": "https://acme.example/api", "allowed_hosts": ["acme.example"], "headers": {"x": "y"},
    "test": {"url": "/me"}, "identity": {"id": "id"},
}  # fmt: skip
CATEGORIES = {"tools": Category(slug="tools", name="Tools", description="Things.")}


def test_one_beside_an_app_of_ours_takes_what_people_see_and_no_request() -> None:
    fields = variants.whole(BROUGHT, BASE)
    assert fields["description"] == "Rockets."
    assert "base_url" not in fields
    assert "identity" not in fields
    assert fields["test"]["kind"] == pieces.KIND
    assert variants.only_joined(BROUGHT, BASE)
    assert list(problems(AppSpec.model_validate(fields), CATEGORIES, own=True)) == []


def test_one_beside_another_of_its_package_takes_all() -> None:
    other = {**BASE, "test": BROUGHT["test"]}
    assert variants.whole(BROUGHT, other)["base_url"] == "https://acme.example/api"
    assert not variants.only_joined(BROUGHT, other)
    assert not variants.only_joined(BASE, other)


@pytest.mark.parametrize("without", ["test", "piece"])
def test_who_tests_it_and_that_it_does_belong_together(without: str) -> None:
    fields = {name: value for name, value in variants.whole(BROUGHT, BASE).items() if name != without}
    fields = (
        {**fields, "test": {"url": "https://acme.example/me", "source": "https://npm.example/x"}}
        if without == "test"
        else fields
    )
    told = list(problems(AppSpec.model_validate(fields), CATEGORIES, own=True))
    assert "a test of the kind piece and a [piece] section, which says whose, belong together." in told


def test_an_app_says_of_itself_whether_a_package_tests_it() -> None:
    assert pieces.asks_piece(BROUGHT)
    assert not pieces.asks_piece({"text": KEYS})
    assert not pieces.asks_piece({"test": "piece"})
