"""Build → Project in a browser: the names are changed, and a colour is chosen, seen at once, and kept for the Link."""

import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.person import PASSWORD, Person
from webapp.people import users
from webapp.service.domain.projects import project_logos, projects

pytestmark = pytest.mark.browser

URL = "/build/project"
ACCENT = "getComputedStyle(document.querySelector('.btn.primary')).backgroundColor"


def square(side: int) -> bytes:
    """A red PNG."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = zlib.compress((b"\0" + b"\xd0\x20\x20" * side) * side)
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def owner(product: Any) -> str:
    """The owner's address."""
    service, email = product.service, "olga@example.com"
    users.create(service.store, service.clock, email=email, password=PASSWORD, role="owner")
    return email


@pytest.fixture
def olga(contexts: Callable[..., Any], product: Any, owner: str) -> Any:
    """A page on which the owner is signed in."""
    page = contexts(reduced_motion="reduce", viewport={"width": 360, "height": 740}).new_page()
    Person(page, product).sign_in(owner)
    page.wait_for_url("**/apps*")
    return page


def test_a_project_gets_its_names_its_colour_and_its_logo(olga: Any, product: Any, axe: Any) -> None:
    def check(name: str) -> None:
        for scheme in ("light", "dark"):
            olga.emulate_media(color_scheme=scheme)
            assert axe(olga, colours=scheme == "dark") == [], (name, scheme)
        assert olga.evaluate("document.documentElement.scrollWidth") <= 360, name
        olga.emulate_media(color_scheme="light")

    olga.goto(product.url + URL)
    check("page")
    olga.get_by_label("Product name").fill("Acme Desk")
    olga.get_by_role("button", name="Save", exact=True).click()
    olga.get_by_text("The project is saved.").wait_for()

    ours = olga.evaluate(ACCENT)
    swatch = olga.locator(".swatch.light .btn")
    olga.get_by_label("Colour").fill("165")
    olga.get_by_text("4.7 to 1 on light, 7.2 to 1 on dark").wait_for()
    colour = swatch.evaluate("node => getComputedStyle(node).backgroundColor")
    assert colour != ours == olga.evaluate(ACCENT)
    check("another colour")
    olga.get_by_label("Logo").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": square(64)})
    olga.get_by_role("button", name="Save brand").click()
    olga.get_by_text("64 × 64 pixels").wait_for()
    check("refused logo")
    olga.get_by_label("Colour").fill("165")
    olga.get_by_label("Logo").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": square(160)})
    olga.get_by_role("button", name="Save brand").click()
    olga.get_by_text("Your brand is saved.").wait_for()
    assert projects.get(product.service.store, product.project.id).brand_hue == 165
    assert project_logos.get(product.service.store, product.project.id).image == square(160)
    assert olga.locator("#brand img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 160

    olga.goto(product.link())
    olga.get_by_role("heading", name="Acme Desk").wait_for()
    assert olga.evaluate(ACCENT) == colour


def test_it_is_done_without_javascript(olga: Any, product: Any, contexts: Callable[..., Any]) -> None:
    plain = contexts(java_script_enabled=False, storage_state=olga.context.storage_state()).new_page()
    plain.goto(product.url + URL)
    plain.get_by_label("Support e-mail").fill("desk@acme.example")
    plain.get_by_role("button", name="Save", exact=True).click()
    assert plain.get_by_label("Support e-mail").input_value() == "desk@acme.example"


def test_the_switch_leads_to_the_other_environment_and_back(olga: Any, product: Any, axe: Any) -> None:
    olga.set_viewport_size({"width": 1200, "height": 900})
    olga.goto(f"{product.url}/accounts")
    switch = olga.get_by_role("group", name="Environment")
    live = switch.get_by_role("button", name="Production")
    live.click()
    olga.wait_for_function("document.querySelector('.env .live').getAttribute('aria-pressed') === 'true'")
    assert olga.url == f"{product.url}/accounts"
    for scheme in ("light", "dark"):
        olga.emulate_media(color_scheme=scheme)
        assert axe(olga, colours=scheme == "dark") == [], scheme
    olga.goto(f"{product.url}/apps")
    assert live.get_attribute("aria-pressed") == "true"
    switch.get_by_role("button", name="Development").click()
    olga.wait_for_function("document.querySelector('.env .live').getAttribute('aria-pressed') === 'false'")


def test_another_project_is_made_left_and_deleted(olga: Any, product: Any, axe: Any) -> None:
    def check(name: str) -> None:
        for scheme in ("light", "dark"):
            olga.emulate_media(color_scheme=scheme)
            assert axe(olga, colours=scheme == "dark") == [], (name, scheme)
        olga.emulate_media(color_scheme="light")

    olga.set_viewport_size({"width": 1200, "height": 900})
    olga.goto(product.url + URL)
    olga.get_by_role("link", name="Create another project").click()
    check("form")
    olga.get_by_label("Product name").fill("Corner Shop")
    olga.get_by_label("Support e-mail").fill("help@shop.example")
    olga.get_by_role("button", name="Create project").click()
    olga.get_by_text("“Corner Shop” is created. You now work in it.").wait_for()
    olga.locator(".project-menu summary").click()
    check("menu")
    olga.locator(f".project-menu [value={product.project.id}]").click()
    olga.locator(f"code:has-text('{product.project.id}')").wait_for()
    olga.locator(".project-menu summary").click()
    olga.get_by_role("button", name="Corner Shop").click()
    olga.get_by_role("link", name="Delete this project").click()
    question = olga.get_by_role("dialog")
    question.wait_for()
    check("question")
    question.get_by_label("Type “Corner Shop” to delete it").fill("Corner Shop")
    question.get_by_role("button", name="Delete the project").click()
    olga.get_by_text("“Corner Shop” is deleted.").wait_for()
    assert olga.locator(".project-menu").count() == 0
