"""An office whose machine has Node, and integrations in it that go with the test.

The ways back, and the hosts of a form.

Integrations in words.

The page of Integrations: a search, what is here already, and its states; for owners alone.

The page of one integration: what it may reach and was refused, whether people see it, and its removal.

A package is looked at step by step, added with the hosts that its owner says, updated, or stopped.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.embedded import Embedded
from tests.fakes.public_directory import DOCUMENTS, archive, brought, described
from tests.fakes.user_data import plant_account
from tests.service.domain.pieces import planted
from webapp.dashboard.build.integrations import integrations
from webapp.dashboard.client.build.pieces import Piece as ShownPiece
from webapp.dashboard.client.build.pieces import Pieces
from webapp.errors import UpstreamFailed
from webapp.service.components.pieces import node
from webapp.service.directory import directory
from webapp.service.domain.base import catalog_file, piece_hosts
from webapp.service.domain.pieces import pieces
from webapp.service.domain.pieces.pieces import Piece
from webapp.service.pieces.registry import Registry, Release, Results

Plant = Callable[..., Piece]
PAGE = "/build/integrations"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(autouse=True)
def machine(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It has Node, and the catalog is not built anew; nothing is added before or after."""
    monkeypatch.setattr(node, "find", lambda: node.Node(Path("/usr/bin/node"), "22.1.0"))
    monkeypatch.setattr(catalog_file, "update", lambda service: None)
    yield
    with office.service.store.write() as tx:
        for piece in pieces.all_of(tx):
            pieces.delete(tx, piece)


@pytest.fixture
def plant(office: Embedded) -> Plant:
    """Adds an integration."""
    return lambda *name, **facts: planted.plant(office.service, *name, **facts)


@pytest.fixture
def plant_ready(office: Embedded) -> Plant:
    """One that waits to be confirmed."""
    return lambda *name, **facts: planted.plant_ready(office.service, *name, **facts)


def test_ways_back(stage: Any) -> None:
    with stage.request("/build/integrations/pc_1", method="POST", data={"hosts": "a.example\nb.example"}):
        assert integrations.back("added").headers["Location"] == "/build/integrations#added"
        assert integrations.to_piece("pc_1", "reach").headers["Location"] == "/build/integrations/pc_1#reach"
        assert integrations.hosts_of_form().split() == ["a.example", "b.example"]


def piece(**facts: Any) -> ShownPiece:
    return ShownPiece.model_validate({"id": "pc_1", "version": "1.0.0", **facts})


def test_counts() -> None:
    several = piece(actions=[{"name": "A"}, {"name": "B"}], triggers=[{"name": "C"}], accounts=1, deployed=2)
    assert (integrations.adds(several), integrations.used_by(several)) == (
        "2 actions, 1 trigger",
        "1 account, 2 triggers",
    )
    assert (integrations.adds(piece()), integrations.used_by(piece())) == ("No actions", "Nobody yet")
    added = Pieces.model_validate({"data": [several.model_dump(), piece(triggers=[{"name": "D"}]).model_dump()]})
    assert integrations.parts(added)["totals"] == integrations.Totals(2, "2 actions, 2 triggers")
    assert integrations.some(["A", "B", "C", "D"]) == "A, B, C …"
    kinds = [["action"], ["trigger", "trigger"], ["action", "trigger"]]
    assert [integrations.left_out(piece(left_out=[{"kind": kind} for kind in each])) for each in kinds] == [
        "1 action left out", "2 triggers left out", "2 parts left out",
    ]  # fmt: skip


def test_news_of_a_newer_version() -> None:
    newer = {"newest": "1.1.0", "newer": True}
    ready = {**newer, "state": "ready", "wanted": "1.1.0"}
    assert integrations.news(piece(newest="1.0.0")) == "Newest"
    assert integrations.news(piece(source="tarball")) == ""
    assert integrations.news(piece(**newer)) == "1.1.0 is out"
    assert integrations.news(piece(**ready, changes={"added": ["A"]})) == "1.1.0 is out; nothing breaks"
    assert integrations.news(piece(**ready, changes={"gone": ["A"]})) == "1.1.0 changes 1 part"


def test_each_stands_in_its_part_of_the_page() -> None:
    fresh = {"version": "", "wanted": "1.0.0"}
    states: list[dict[str, Any]] = [
        {"state": "added"}, {"state": "adding"}, {"state": "ready", **fresh}, {"state": "adding", **fresh},
    ]  # fmt: skip
    shown = Pieces(data=tuple(piece(**facts) for facts in states), node="22")
    parts = integrations.parts(shown)
    assert [len(parts[name]) for name in ("added", "working", "waiting")] == [2, 2, 1]
    assert integrations.progress_mark(piece(state="adding", step=2)) == "adding.2"


def finds(monkeypatch: pytest.MonkeyPatch, *packages: str, exact: bool = False) -> None:
    releases = [Release(name, "1.2.0", "1.2.0", HOSTILE, "MIT", "Acme", 620_000) for name in packages]
    monkeypatch.setattr(Registry, "search", lambda *_: Results(tuple(releases), exact))


def test_a_first_visit_says_what_to_do(office: Embedded) -> None:
    page = office.browser().get(PAGE)
    assert "Nothing added yet" in page and "Import an API" in page and "Node 20" not in page
    for role in ("developer", "member"):
        office.browser(role).get(PAGE, code=404)


def test_what_npm_has_is_listed_with_what_is_here(
    office: Embedded, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = plant()
    finds(monkeypatch, "@acme/piece-fakturoid", "@activepieces/piece-slack", piece.package, exact=True)
    page = office.browser().get(f"{PAGE}/packages?q=shop")
    assert HOSTILE not in page and "&lt;img src=x onerror=alert(1)&gt;" in page
    for words in ("Version 1.2.0", "605\xa0KiB", "MIT, Acme", "<code>@acme/piece-fakturoid</code>", "Already built in",
                  'href="/apps/slack"', f'href="{PAGE}/{piece.id}"', 'aria-label="Look at Fakturoid"',
                  "Only packages of exactly this name were searched for"):  # fmt: skip
        assert words in page
    assert "Look at Shop" not in page and "Look at Slack" in page, "it may do more"


def test_typing_finds_what_is_here_and_asks_npm_afterwards(
    office: Embedded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = office.service.settings.data
    brought(data, tmp_path, archive({"slackless.io": described(HOSTILE, {}, "api.slackless.io"), **DOCUMENTS}))
    finds(monkeypatch, "@acme/piece-slackish")
    browser = office.browser()
    part = browser.get(f"{PAGE}?q=slack", htmx=True)
    assert "<html" not in part and 'href="/apps/slack"' in part and HOSTILE not in part
    packages_url = f"{PAGE}/packages?q=slack&amp;others=1"
    for words in ("From the public directory", "Not curated", "1 operation", "<code>slackless.io</code>",
                  "name=slackless.io&amp;slug=slackless", f'hx-get="{packages_url}"'):  # fmt: skip
        assert words in part
    packages = browser.get(f"{PAGE}/packages?q=slack", htmx=True)
    assert "Packages for “slack”" in packages and "@acme/piece-slackish" in packages and "Here already" not in packages
    assert browser.get(f"{PAGE}?q=", htmx=True).strip() == ""
    directory.remove(data)


def test_without_the_directory_it_says_how_to_bring_it(office: Embedded, tmp_path: Path) -> None:
    hint = 'href="/docs/apps#the-public-directory"'
    assert hint in office.browser().get(PAGE)
    brought(office.service.settings.data, tmp_path)
    assert hint not in office.browser().get(PAGE)
    directory.remove(office.service.settings.data)


def test_what_nobody_made_has_other_ways(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    finds(monkeypatch)
    page = office.browser().get(f"{PAGE}/packages?q=faktu%22roid")
    assert "No integration found for “faktu&#34;roid”" in page
    assert 'href="/build/integrations/imports/new"' in page and 'href="/apps/http"' in page


def test_a_name_that_was_not_found_may_be_that_of_an_app_that_is_here(
    office: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, exact=True)
    page = office.browser().get(f"{PAGE}/packages?q=fakturoid")
    assert "npm has nothing called “fakturoid”" in page and "Only packages of exactly this name" in page
    page = office.browser().get(f"{PAGE}/packages?q=slac")
    assert "npm has no package for “slac”." in page and 'href="/apps/slack"' in page and "Open Slack" in page


def test_what_waits_for_an_owner_is_one_step_away(
    office: Embedded, plant_ready: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = plant_ready()
    finds(monkeypatch, piece.package)
    page = office.browser().get(f"{PAGE}/packages?q=shop")
    assert f'href="#piece-{piece.id}"' in page and "See what Shop adds" in page and "Look at Shop" not in page


def test_a_page_does_not_wait_for_the_registry(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fails(_: Registry, text: str) -> None:
        asked.append(text)
        raise UpstreamFailed

    monkeypatch.setattr(Registry, "search", fails)
    browser = office.browser()
    page = browser.get(f"{PAGE}?q=slack")
    assert "Open Slack" in page and f'href="{PAGE}/packages?q=slack">Search npm, too' in page and asked == []
    assert "Search npm" not in browser.get(PAGE)
    later = browser.get(f"{PAGE}/packages?q=slack", htmx=True)
    assert "npm’s registry does not answer" in later and "Open Slack" not in later and asked == ["slack"]
    whole = browser.get(f"{PAGE}/packages?q=slack")
    assert "npm’s registry does not answer" in whole and "Open Slack" in whole


def test_without_node_there_is_nothing_to_press(
    office: Embedded, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(newest="2.0.0")
    finds(monkeypatch, "@acme/piece-fakturoid")
    monkeypatch.setattr(node, "find", lambda: None)
    page = office.browser().get(f"{PAGE}/packages?q=fakturoid")
    assert "Added integrations need Node 20 or newer" in page and 'href="/docs/pieces#what-it-needs"' in page
    assert "Look at Fakturoid" not in page and "Look at 2.0.0" not in page


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
    monkeypatch.setattr(piece_hosts, "package_of", lambda path: piece.package)
    piece_hosts.note(office.service, "x.json", ["cdn.shop.example"])
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
    assert pieces.get(office.service.store, piece.id).hosts == ("*.shop.example",)
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
    assert "1 connected account stops working until it is added again." in browser.get(f"{own}/removal")
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


def now(office: Embedded, piece: Piece) -> Piece:
    return pieces.get(office.service.store, piece.id)


def test_a_package_is_looked_at_and_stopped(office: Embedded) -> None:
    browser = office.browser()
    page = browser.follow(PAGE, {"name": "@acme/piece-shop", "version": "1.0.0"})
    for words in ("Checking Shop", "Looking for it", "Step 1 of 4", 'aria-current="step"'):
        assert words in page
    poll = re.findall(rf'hx-get="({PAGE}/\w+/progress\?known=[\w.]+)"', page)[0]
    assert browser.get(poll, htmx=True, code=204) == ""
    assert "Version 1.0.0, checksum matches" in browser.get(poll.partition("?")[0], htmx=True)
    assert "being added just now" in browser.follow(PAGE, {"name": "@acme/piece-shop"})
    assert "Checking Shop" not in browser.follow(poll.partition("/progress")[0] + "/stop")
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


def test_why_it_failed_is_reported_and_put_away(office: Embedded, plant_ready: Plant) -> None:
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
    assert "Updating Shop to 1.1.0" in page
    assert now(office, piece).hosts == ("api.shop.example", "files.shop.example")
    assert browser.send(f"{PAGE}/{piece.id}/update").status_code == 303
    assert browser.client.get(f"{PAGE}/{piece.id}/update", base_url="http://localhost:8600").status_code == 303


def test_one_click_updates_to_what_changes_nothing_and_keeps_the_hosts(office: Embedded, plant: Plant) -> None:
    browser, piece = office.browser(), plant(state="ready", wanted="1.1.0", newest="1.1.0")
    version = pieces.version(office.service.store, piece, "1.0.0")
    assert version is not None
    with office.service.store.write() as tx:
        pieces.keep_version(tx, replace(version, id=pieces.version_id(piece.id, "1.1.0"), version="1.1.0"), {})
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
    assert "Check for updates" in browser.get(PAGE)
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
