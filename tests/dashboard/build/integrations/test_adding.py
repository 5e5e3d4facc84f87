"""A package is looked at step by step, added with the hosts that its owner says, updated, or stopped."""

import re
from dataclasses import replace

import pytest

from tests.dashboard.build.integrations.conftest import Plant
from tests.dashboard.embedded import Embedded
from webapp.errors import UpstreamFailed
from webapp.service.domain.instance.pieces import rows
from webapp.service.domain.instance.pieces.rows import Piece
from webapp.service.pieces.registry import Registry, Release

PAGE = "/build/integrations"


def now(office: Embedded, piece: Piece) -> Piece:
    return rows.get(office.service.store, piece.id)


def test_a_package_is_looked_at_and_stopped(office: Embedded) -> None:
    browser = office.browser()
    page = browser.follow(PAGE, {"name": "@acme/piece-shop", "version": "1.0.0"})
    for words in ("Looking at Shop", "Looking for it", "Step 1 of 4", 'aria-current="step"'):
        assert words in page
    poll = re.findall(rf'hx-get="({PAGE}/\w+/progress\?known=[\w.]+)"', page)[0]
    assert browser.get(poll, htmx=True, code=204) == ""
    assert "Version 1.0.0, checksum matches" in browser.get(poll.partition("?")[0], htmx=True)
    assert "being added just now" in browser.follow(PAGE, {"name": "@acme/piece-shop"})
    assert "Looking at Shop" not in browser.follow(poll.partition("/progress")[0] + "/stop")
    assert browser.send(PAGE, {"name": "../x"}).status_code == 303


def test_what_is_over_changes_the_parts_of_the_open_page(office: Embedded, plant_ready: Plant) -> None:
    path = f"{PAGE}/{plant_ready().id}/progress?known=adding.3"
    part = office.browser().get(path, htmx=True)
    assert 'data-announce="Shop can be added now."' in part and "<html" not in part
    assert '<hx-partial hx-target="#waiting"' in part and '<hx-partial hx-target="#added"' in part
    assert "Add Shop" in part
    assert office.browser().send(f"{PAGE}/pc_none/stop").status_code == 404


def test_what_was_looked_at_is_added_with_its_hosts(office: Embedded, plant_ready: Plant) -> None:
    browser, piece = office.browser(), plant_ready()
    page = browser.get(PAGE)
    for words in ("2 actions", "Create order, Find order", "People connect with a key", "1 action left out",
                  "It needs waitpoints", "api.shop.example</textarea>", "MIT, Acme", "@acme/piece-shop"):  # fmt: skip
        assert words in page
    refused = browser.send(f"{PAGE}/{piece.id}/addition", {"hosts": "api.shop.example\nhttps://x/y"})
    assert refused.status_code == 422 and "https://x/y</textarea>" in refused.text and 'class="err"' in refused.text
    page = browser.follow(
        f"{PAGE}/{piece.id}/addition", {"hosts": "api.shop.example\n*.acme.example", "shown": "1", "version": "1.0.0"}
    )
    assert "Step 4 of 4" in page and "Stop</button>" not in page
    added = now(office, piece)
    assert (added.hosts, added.hidden) == (("api.shop.example", "*.acme.example"), False)
    assert "does not wait" in browser.follow(f"{PAGE}/{piece.id}/addition")


def test_why_it_failed_is_told_and_put_away(office: Embedded, plant_ready: Plant) -> None:
    browser, piece = office.browser(), plant_ready(state="failed", error="It is too old.")
    page = browser.get(PAGE)
    assert "Shop can’t be added." in page and "It is too old." in page and "Try again" in page
    assert "It is too old." not in browser.follow(f"{PAGE}/{piece.id}/stop")


def test_a_newer_version_says_what_it_changes(office: Embedded, plant: Plant) -> None:
    browser, piece = office.browser(), plant(state="ready", wanted="1.1.0", newest="1.1.0")
    assert "1.1.0 changes 1 part" in browser.get(PAGE)
    page = browser.get(f"{PAGE}/{piece.id}/update")
    assert "Find order" in page and "Keep 1.0.0" in page and "New in this version: files.shop.example" in page
    refused = browser.send(f"{PAGE}/{piece.id}/update", {"hosts": "https://x/"})
    assert refused.status_code == 422 and "https://x/</textarea>" in refused.text
    page = browser.follow(f"{PAGE}/{piece.id}/update", {"hosts": "api.shop.example\nfiles.shop.example"})
    assert "Bringing Shop 1.1.0" in page
    assert now(office, piece).hosts == ("api.shop.example", "files.shop.example")
    assert browser.send(f"{PAGE}/{piece.id}/update").status_code == 303
    assert browser.client.get(f"{PAGE}/{piece.id}/update", base_url="http://localhost:8600").status_code == 303


def test_one_click_updates_to_what_changes_nothing_and_keeps_the_hosts(office: Embedded, plant: Plant) -> None:
    browser, piece = office.browser(), plant(state="ready", wanted="1.1.0", newest="1.1.0")
    version = rows.version(office.service.store, piece, "1.0.0")
    assert version is not None
    with office.service.store.write() as tx:
        rows.keep_version(tx, replace(version, id=rows.version_id(piece.id, "1.1.0"), version="1.1.0"), {})
    form = browser.get(PAGE).split(f'action="{PAGE}/{piece.id}/update"')[1].split("</form>")[0]
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', form))
    assert "Update to 1.1.0" in form and (fields["version"], fields["hosts"]) == ("1.1.0", "api.shop.example")
    assert "1.1.0 was brought meanwhile" in browser.follow(f"{PAGE}/{piece.id}/update", {**fields, "version": "1.0.9"})
    assert now(office, piece).state == "ready"
    browser.follow(f"{PAGE}/{piece.id}/update", fields)
    assert (now(office, piece).state, now(office, piece).hosts) == ("writing", ("api.shop.example",))


def test_newer_versions_are_looked_for_at_once(office: Embedded, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    browser, piece = office.browser(), plant()
    monkeypatch.setattr(Registry, "look_up", lambda *_: Release(piece.package, "1.4.0", "1.4.0"))
    assert "Look for newer versions" in browser.get(PAGE)
    page = browser.follow(f"{PAGE}/newer")
    assert "npm was asked for newer versions just now." in page and "Look at 1.4.0" in page

    def away(*_: object) -> None:
        raise UpstreamFailed("The registry could not be asked: it is away.")

    monkeypatch.setattr(Registry, "look_up", away)
    assert "npm’s registry does not answer" in browser.follow(f"{PAGE}/newer")


def test_a_newer_version_may_be_left_no_host(office: Embedded, plant: Plant) -> None:
    piece = plant(state="ready", wanted="1.1.0", newest="1.1.0")
    assert office.browser().send(f"{PAGE}/{piece.id}/update", {"hosts": ""}).status_code == 303
    assert now(office, piece).hosts == ()


def test_owners_alone_add(office: Embedded, plant_ready: Plant) -> None:
    piece = plant_ready()
    for role in ("developer", "member"):
        browser = office.browser(role)
        browser.get(f"{PAGE}/{piece.id}/progress", htmx=True, code=404)
        for path in (PAGE, f"{PAGE}/{piece.id}/addition", f"{PAGE}/{piece.id}/update", f"{PAGE}/{piece.id}/stop"):
            assert browser.send(path, {"name": "shop"}).status_code == 404
    assert now(office, piece).state == "ready"
