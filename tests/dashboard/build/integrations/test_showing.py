"""The page of one integration: what it may reach and was refused, whether people see it, and its removal."""

import pytest

from tests.dashboard.build.integrations.conftest import Plant
from tests.dashboard.embedded import Embedded
from tests.fakes.user_data import plant_account
from webapp.service.domain.base import piece_reach
from webapp.service.domain.instance.pieces import rows

PAGE = "/build/integrations"


def test_it_tells_what_it_is_and_whose(office: Embedded, plant: Plant) -> None:
    page = office.browser().get(f"{PAGE}/{plant(newest='1.1.0').id}")
    for words in ("Orders and stock", "<code", "@acme/piece-shop", "1.1.0 is out", "Permission is granted.",
                  'href="/apps/shop/actions/shop-create-order"', "It needs waitpoints", "Look at 1.1.0"):  # fmt: skip
        assert words in page
    office.browser().get(f"{PAGE}/pc_none", code=404)


def test_what_it_may_reach_is_changed_and_what_was_refused_allowed(
    office: Embedded, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, piece = office.browser(), plant()
    monkeypatch.setattr(piece_reach, "package_of", lambda path: piece.package)
    piece_reach.note(office.service, "x.json", ["cdn.shop.example"])
    assert "1 host refused" in browser.get(PAGE)
    own = f"{PAGE}/{piece.id}"
    assert 'aria-label="Allow cdn.shop.example"' in browser.get(own)
    page = browser.follow(f"{own}/allowance", {"host": "cdn.shop.example"})
    assert "Shop may reach cdn.shop.example now." in page and "Allow cdn" not in page
    refused = browser.send(f"{own}/hosts", {"hosts": "no host"})
    assert refused.status_code in (303, 422)
    refused = browser.send(f"{own}/hosts", {"hosts": "https://x/"})
    assert refused.status_code == 422 and "https://x/</textarea>" in refused.text
    assert "Saved." in browser.follow(f"{own}/hosts", {"hosts": "*.shop.example"})
    assert rows.get(office.service.store, piece.id).hosts == ("*.shop.example",)
    assert browser.send(f"{own}/allowance", {"host": "https://x/"}).status_code == 303


def test_it_is_hidden_and_shown(office: Embedded, plant: Plant) -> None:
    browser, own = office.browser(), f"{PAGE}/{plant().id}"
    page = browser.follow(f"{own}/visibility")
    assert "Shop is hidden from people." in page and "Hidden from people" in page and "Show to people: Shop" in page
    assert "People see Shop now." in browser.follow(f"{own}/visibility", {"shown": "1"})


def test_it_is_removed_with_what_happens_said_first(office: Embedded, plant: Plant) -> None:
    browser, piece = office.browser(), plant()
    own = f"{PAGE}/{piece.id}"
    account = plant_account(office.service, office.scene, office.people["owner"].id, "shop", {})
    assert "1 account" in browser.get(PAGE)
    assert "1 connected account does nothing more until it is added again." in browser.get(f"{own}/removal")
    assert "Shop is removed." in browser.follow(f"{own}/removal")
    assert browser.send(f"{own}/removal").status_code == 404
    assert account.app == "shop"


def test_owners_alone_see_and_change_it(office: Embedded, plant: Plant) -> None:
    own = f"{PAGE}/{plant().id}"
    for role in ("developer", "member"):
        browser = office.browser(role)
        browser.get(own, code=404)
        for verb in ("hosts", "allowance", "visibility", "removal"):
            assert browser.send(f"{own}/{verb}").status_code == 404
