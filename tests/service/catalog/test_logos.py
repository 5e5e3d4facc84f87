"""Logos are small, static and safe, in the brand's colour."""

import sys
from xml.etree import ElementTree

import pytest

from webapp.service.catalog import logos
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.spec import Logo

DRAWN = {"svg", "title", "path", "rect", "text"}


def test_every_shipped_logo_is_static(shipped: Catalog) -> None:
    for app in shipped.search().items:
        document = shipped.logo(app.slug)
        assert document is not None
        assert len(document) < 8_000
        root = ElementTree.fromstring(document)
        for element in root.iter():
            assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in DRAWN
            assert not [name for name in element.attrib if name.startswith("on") or "href" in name or name == "style"]
        assert root.findtext("{http://www.w3.org/2000/svg}title") == app.name
        assert app.img_src == f"http://localhost:8000/logos/{app.slug}.svg?v={logos.digest(document.decode())}"


def test_an_icon_is_drawn_in_the_brands_colour() -> None:
    document = logos.svg("GitHub", Logo(icon="github"))
    assert '<path fill="#181717" d="M12' in document
    assert '<path fill="#123456"' in logos.svg("GitHub", Logo(icon="github", color="#123456"))


def test_a_letter_is_drawn_on_a_tile_and_stays_readable() -> None:
    dark, light = logos.svg("A", Logo(letter="A", color="#102030")), logos.svg("A", Logo(letter="A", color="#ffee00"))
    assert 'fill="#102030"' in dark
    assert 'fill="#ffffff">A<' in dark
    assert 'fill="#000000">A<' in light


def test_names_and_letters_are_escaped() -> None:
    document = logos.svg("<script>alert(1)</script>", Logo(letter="<", color="#000000"))
    root = ElementTree.fromstring(document)
    assert "<script" not in document
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "<script>alert(1)</script>"


def test_an_icon_that_does_not_exist() -> None:
    assert not logos.exists(Logo(icon="no-such-icon"))
    with pytest.raises(ValueError, match="there is no icon no-such-icon"):
        logos.svg("X", Logo(icon="no-such-icon"))


def test_the_icon_package_is_let_go_of() -> None:
    logos.load(["gitlab", "trello"])
    assert logos.icon("gitlab") is not None
    assert "simpleicons.all" not in sys.modules


def test_a_logo_of_an_app_by_its_id(shipped: Catalog) -> None:
    app = shipped.app("github")
    assert app is not None
    assert shipped.logo(app.id) == shipped.logo("github")
    assert shipped.logo("nothing") is None
