"""Logos are small, static and safe, in the brand's colour."""

import sys
import tomllib
from xml.etree import ElementTree

import pytest

from tests.marks import SHAPES, unsafe
from webapp.service.catalog import logos
from webapp.service.catalog.index import Catalog
from webapp.service.catalog.spec import Logo

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {"title", "text"} | SHAPES


def test_every_shipped_logo_is_static(shipped: Catalog) -> None:
    for app in shipped.search().items:
        document = shipped.logo(app.slug)
        assert document is not None
        assert len(document) < 17_000
        root = ElementTree.fromstring(document)
        for element in root.iter():
            assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in DRAWN
            assert not [name for name in element.attrib if name.startswith("on") or name == "style"]
            assert all(value.startswith("#") for name, value in element.attrib.items() if "href" in name)
        assert root.findtext("{http://www.w3.org/2000/svg}title") == app.name.removesuffix(" (MCP)")
        assert app.img_src.endswith(f".svg?v={logos.digest(document.decode())}")
        assert shipped.logo(app.img_src.rpartition("/")[2].partition(".svg")[0]) == document


def test_an_icon_is_drawn_in_the_brands_colour() -> None:
    document = logos.svg("GitHub", Logo(icon="github"))
    assert '<path fill="#181717" d="M12' in document
    assert '<path fill="#123456"' in logos.svg("GitHub", Logo(icon="github", color="#123456"))


def test_a_letter_is_drawn_on_a_tile_and_stays_readable() -> None:
    dark, light = logos.svg("A", Logo(letter="A", color="#102030")), logos.svg("A", Logo(letter="A", color="#ffee00"))
    assert 'fill="#102030"' in dark
    assert 'fill="#ffffff">A<' in dark
    assert 'fill="#000000">A<' in light


def test_a_mark_is_drawn_as_it_is_with_the_name_of_the_app() -> None:
    document = logos.svg("A & B", Logo(mark="monday"))
    root = ElementTree.fromstring(document)
    assert root.findtext(f"{SVG}title") == "A & B" and root.attrib["width"] == "24"
    shapes = [element.attrib for element in ElementTree.parse(logos.MARKS / "monday.svg").iter(f"{SVG}path")]
    assert shapes and [element.attrib for element in root.iter(f"{SVG}path")] == shapes
    assert not logos.exists(Logo(mark="no_such_mark"))
    with pytest.raises(ValueError, match="there is no mark no_such_mark"):
        logos.svg("X", Logo(mark="no_such_mark"))


def test_every_mark_has_its_source_and_terms_and_is_small_and_plain() -> None:
    sources = tomllib.loads((logos.MARKS / "sources.toml").read_text("utf-8"))
    files = {file.stem: file for file in logos.MARKS.glob("*.svg")}
    assert files.keys() == sources["marks"].keys()
    for mark, source in sources["marks"].items():
        package = sources["packages"][source.partition("/")[0]]
        assert package["version"] and package["licence"] in ("CC0-1.0", "MIT"), mark
        assert unsafe(files[mark].read_text("utf-8")) == "", mark
    assert sum(file.stat().st_size for file in files.values()) <= 300_000


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<path onload="alert(1)"/>',
        '<use href="https://a.example/x.svg#a"/>',
        '<use href="//a.example/x.svg#a"/>',
        '<path fill="url(https://a.example/x)"/>',
        '<path style="fill:red"/>',
        "<style>path{fill:red}</style>",
        '<image href="#a"/>',
        "<foreignObject/>",
        "<g>words</g>",
    ],
)
def test_a_mark_with_anything_besides_shapes_is_refused(inside: str) -> None:
    frame = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">{}</svg>'
    assert unsafe(frame.format('<path d="M0 0" fill="url(#a)"/><use href="#a"/>')) == ""
    assert unsafe(frame.format(inside))


def test_the_brands_that_show_a_letter_say_why(shipped: Catalog) -> None:
    reasons = logos.letters()
    for slug in reasons:
        assert shipped.logo(slug) is not None and b"<text" in (shipped.logo(slug) or b""), f"{slug} has a mark now"
    assert all(reasons.values())


@pytest.mark.parametrize(
    ("slug", "logo"),
    [("monday", Logo(mark="monday")), ("git_hub", Logo(icon="github")), ("no_such_brand", None), ("../marks/x", None)],
)
def test_a_brand_is_found_by_its_name(slug: str, logo: Logo | None) -> None:
    assert logos.of_brand(slug) == logo


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
