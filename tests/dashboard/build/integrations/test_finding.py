"""The page of Integrations: a search, what is here already, and its states; for owners alone."""

import pytest

from tests.dashboard.build.integrations.conftest import Plant
from tests.dashboard.embedded import Embedded
from webapp.errors import UpstreamFailed
from webapp.service.components.pieces import node
from webapp.service.pieces.registry import Registry, Release, Results

PAGE = "/build/integrations"
HOSTILE = "<img src=x onerror=alert(1)>"


def finds(monkeypatch: pytest.MonkeyPatch, *packages: str, exact: bool = False) -> None:
    releases = [Release(name, "1.2.0", "1.2.0", HOSTILE, "MIT", "Acme", 620_000) for name in packages]
    monkeypatch.setattr(Registry, "search", lambda *_: Results(tuple(releases), exact))


def test_a_first_visit_says_what_to_do(office: Embedded) -> None:
    page = office.browser().get(PAGE)
    assert "Nothing added yet" in page and "Describe an API" in page and "Node 20" not in page
    for role in ("developer", "member"):
        office.browser(role).get(PAGE, code=404)


def test_what_npm_has_is_listed_with_what_is_here(
    office: Embedded, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = plant()
    finds(monkeypatch, "@acme/piece-fakturoid", "@activepieces/piece-slack", piece.package, exact=True)
    page = office.browser().get(f"{PAGE}?q=shop")
    assert HOSTILE not in page and "&lt;img src=x onerror=alert(1)&gt;" in page
    for words in ("Version 1.2.0", "0.6 MB", "MIT, Acme", "<code>@acme/piece-fakturoid</code>", "made by Patchbay",
                  'href="/apps/slack"', f'href="{PAGE}/{piece.id}"', 'aria-label="Look at Fakturoid"',
                  "npm was asked for packages of exactly this name"):  # fmt: skip
        assert words in page
    assert "Look at Shop" not in page and "Look at Slack" in page, "it may do more"


def test_what_nobody_made_has_other_ways(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    finds(monkeypatch)
    page = office.browser().get(f"{PAGE}?q=faktu%22roid")
    assert "Nobody has made “faktu&#34;roid” yet" in page
    assert 'href="/build/apps/imports/new"' in page and 'href="/apps/http"' in page


def test_a_name_that_was_not_found_may_be_that_of_an_app_that_is_here(
    office: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    finds(monkeypatch, exact=True)
    page = office.browser().get(f"{PAGE}?q=fakturoid")
    assert "npm has nothing called “fakturoid”" in page and "Only packages of exactly this name" in page
    page = office.browser().get(f"{PAGE}?q=slac")
    assert "Here already: Slack." in page and 'href="/apps/slack"' in page and "Open Slack" in page


def test_what_waits_for_an_owner_is_one_step_away(
    office: Embedded, plant_ready: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = plant_ready()
    finds(monkeypatch, piece.package)
    page = office.browser().get(f"{PAGE}?q=shop")
    assert f'href="#piece-{piece.id}"' in page and "See what Shop adds" in page and "Look at Shop" not in page


def test_a_registry_that_does_not_answer_is_told(office: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise UpstreamFailed

    monkeypatch.setattr(Registry, "search", fails)
    assert "npm’s registry does not answer" in office.browser().get(f"{PAGE}?q=shop")


def test_without_node_there_is_nothing_to_press(
    office: Embedded, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(newest="2.0.0")
    finds(monkeypatch, "@acme/piece-fakturoid")
    monkeypatch.setattr(node, "find", lambda: None)
    page = office.browser().get(f"{PAGE}?q=fakturoid")
    assert "Added integrations need Node 20 or newer" in page and 'href="/docs/pieces#what-it-needs"' in page
    assert "Look at Fakturoid" not in page and "Look at 2.0.0" not in page
