"""The cards of apps: drawn once for everybody, and nothing of anybody in those that are kept."""

from typing import Any

import pytest
from flask import g

from tests.dashboard.conftest import PASSWORD
from webapp.dashboard import app_cards, app_groups
from webapp.dashboard.app_cards import Cards
from webapp.dashboard.client.models.accounts import App
from webapp.kit import translation
from webapp.people import users


def kept(stage: Any) -> dict[str, tuple[App, str]]:
    """The cards that are kept, with their apps."""
    values = stage.app.extensions["patchbay_dashboard"].cards._values
    return {key: value for key, (value, _until, _state) in values.items()}


def group(state: str, *slugs: str, **more: Any) -> app_groups.Group:
    apps = tuple(App.model_validate({"name_slug": slug, **more}) for slug in slugs)
    return app_groups.Group(state, apps, len(apps), begins=True)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The slugs of the apps whose cards are drawn from now on."""
    slugs, draw = list[str](), app_cards._drawn

    def noting(app: app_cards.Shown, *rest: Any) -> Any:
        slugs.append(app.slug)
        return draw(app, *rest)

    monkeypatch.setattr(app_cards, "_drawn", noting)
    return slugs


def test_a_card_is_drawn_once_until_the_service_describes_its_app_in_another_way(stage: Any, drawn: list[str]) -> None:
    with stage.request("/apps"):
        first = Cards({}, "").of(group("ready", "one", "two"), focus=False)
        assert Cards({}, "").of(group("ready", "two", "one"), focus=False) != first
        assert Cards({}, "").of(group("ready", "one", "two"), focus=False) == first
        assert drawn == ["one", "two"]
        other = Cards({}, "").of(group("ready", "one", name="Another <name>"), focus=False)
        assert drawn == ["one", "two", "one"] and "Another &lt;name&gt;" in other


def test_a_card_differs_by_group_badge_and_language(stage: Any) -> None:
    with stage.request("/apps"):
        cards = [
            Cards({}, "").of(group("ready", "one"), focus=False),
            Cards({}, "").of(group("setup", "one"), focus=False),
            Cards({"one": ("2 connected", "ok")}, "").of(group("connected", "one"), focus=False),
            Cards({"one": ("Needs you", "bad")}, "").of(group("connected", "one"), focus=False),
            Cards({}, "").of(group("ready", "one"), focus=True),
            Cards({}, "bob@example.com").of(group("setup", "one"), focus=False),
        ]
        translation.speak("de")
        try:
            cards += [Cards({}, "").of(group("ready", "one"), focus=False) for _ in range(2)]
        finally:
            translation.speak(translation.DEFAULT)
        assert len(set(cards)) == len(cards) - 1 and cards[-1] == cards[-2]


def test_what_is_kept_has_nothing_of_a_person(busy: Any) -> None:
    users.create(busy.store, busy.clock, email="marc@example.com", password=PASSWORD, role="member")
    for email in ("alice@example.com", "marc@example.com"):
        browser = busy.signed_in(email)
        for url in ("/apps", "/apps?q=s", "/apps?state=setup", "/apps?after=ready:&shown=24"):
            assert browser.get(url).status_code == 200
    assert "alice@example.com can set it up" in browser.get("/apps").text
    with busy.request("/apps"):
        assert kept(busy).keys() >= {"github 2 connected connected en", "slack  setup en", "schedule  ready en"}
    for _app, card in kept(busy).values():
        assert "@" not in card and "csrf" not in card and "nonce" not in card and "apn_" not in card


def test_a_portal_keeps_no_cards(busy: Any, drawn: list[str]) -> None:
    with busy.request("/apps"):
        before = len(kept(busy))
        g.portal = object()
        for _ in range(2):
            Cards({}, "").of(group("ready", "one"), focus=False)
        assert drawn == ["one", "one"] and len(kept(busy)) == before
