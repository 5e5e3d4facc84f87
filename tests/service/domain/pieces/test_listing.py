"""Integrations as an owner sees them."""

from dataclasses import replace
from typing import Any

import pytest

from tests.service.domain.pieces.conftest import CONTENTS
from webapp.service.components.pieces import node
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import listing, pieces
from webapp.service.pieces.registry import Registry, Release, Results


def test_what_waits_tells_what_it_would_add(service: Service, bring: Any) -> None:
    view = listing.find(service, bring().id)
    assert (view.current, view.offered, view.changes) == (None, CONTENTS, None)
    assert view.shown_version is not None
    assert view.shown_version.licence_text == "Permission."


def test_another_version_tells_what_it_changes(service: Service, added: Any, bring: Any) -> None:
    piece = added()
    with service.store.write() as tx:
        pieces.change(tx, piece, newest="1.10.0")
    assert listing.find(service, piece.id).has_newer
    bring("1.10.0", replace(CONTENTS, triggers=()))
    (view,) = listing.listed(service)
    assert (view.added, view.piece.version, view.piece.wanted) == (CONTENTS, "1.0.0", "1.10.0")
    assert view.changes is not None
    assert view.changes.sentence == "changes 1 part"


def test_hosts_that_were_refused_are_reported(service: Service, added: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = added()
    monkeypatch.setattr(piece_hosts, "package_of", lambda path: piece.package)
    piece_hosts.note(service, "x.json", ["cdn.shop.example"])
    assert [each.host for each in listing.find(service, piece.id).refused_hosts] == ["cdn.shop.example"]


def test_a_search_tells_what_is_here_already(service: Service, added: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = added()
    names = ("piece-shop", "piece-slack", "piece-fakturoid")
    releases = tuple(Release(f"@activepieces/{name}", "1.0.0", "1.0.0") for name in names)
    monkeypatch.setattr(Registry, "search", lambda *_: Results(releases, exact=True))
    results = listing.search(service, "shop")
    assert [(each.title, each.here, each.slug) for each in results.results] == [
        ("Shop", "added", ""), ("Slack", "builtin", "slack"), ("Fakturoid", "", ""),
    ]  # fmt: skip
    assert (results.results[0].piece_id, results.exact) == (piece.id, True)


def test_the_version_of_node_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert listing.node_version() == "20.0.0"
    monkeypatch.setattr(node, "find", lambda: None)
    assert listing.node_version() == ""
