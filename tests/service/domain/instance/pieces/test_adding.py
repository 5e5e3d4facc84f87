"""Adding an integration: begun, confirmed by an owner, or stopped."""

from typing import Any

import pytest

from webapp import audit
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.cursors import Window
from webapp.service.components.pieces import node
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import adding, listing, rows, uses

NAME = "@activepieces/piece-shop"


def sentences(service: Service) -> list[str]:
    page = audit.page(service.store, audit.Filter(noun=adding.NOUN), Window(limit=20))
    return [entry.sentence for entry in page.items]


def test_what_is_begun_waits_for_whoever_works(service: Service) -> None:
    piece = adding.begin(service, "shop@1.2.0")
    assert (piece.package, piece.folder, piece.title, piece.state, piece.wanted, piece.step) == (
        NAME, "piece-shop", "Shop", "adding", "1.2.0", 1,
    )  # fmt: skip
    with pytest.raises(Conflict, match="being added just now"):
        adding.begin(service, NAME)


def test_without_node_nothing_is_begun(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "find", lambda: None)
    with pytest.raises(Conflict, match="Node"):
        adding.begin(service, NAME)
    assert listing.listed(service) == []


def test_an_owner_confirms_what_it_may_reach(service: Service, bring: Any) -> None:
    piece = bring()
    with pytest.raises(Invalid, match="not a host rule"):
        adding.confirm(service, piece.id, ["https://x.example/path"])
    confirmed = adding.confirm(service, piece.id, [" API.shop.example ", "*.shop.example", ""], shown=True)
    assert (confirmed.state, confirmed.hidden) == ("writing", False)
    assert confirmed.hosts == ("api.shop.example", "*.shop.example")
    with pytest.raises(Conflict, match="does not wait"):
        adding.confirm(service, piece.id, [])
    assert (
        sentences(service)[0] == f"Added the integration {NAME} 1.0.0; it may reach api.shop.example, *.shop.example."
    )


def test_what_is_confirmed_is_what_was_looked_at(service: Service, bring: Any) -> None:
    piece = bring("1.0.0")
    adding.stop(service, piece.id)
    piece = bring("1.1.0")  # by somebody else, while the page of 1.0.0 stood open
    with pytest.raises(Conflict, match=r"Version 1\.1\.0 was brought meanwhile"):
        adding.confirm(service, piece.id, [], version="1.0.0")
    assert rows.get(service.store, piece.id).state == "ready"
    assert adding.confirm(service, piece.id, [], version="1.1.0").state == "writing"


def test_an_older_version_does_not_come_back_below_a_deployed_trigger(
    service: Service, added: Any, bring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    added("1.1.0")
    piece = bring("1.0.0")
    monkeypatch.setattr(uses, "pinned", lambda *_: {"1.1.0"})
    with pytest.raises(Conflict, match=r"deployed on 1\.1\.0, which is newer"):
        adding.confirm(service, piece.id, [])


def test_stopping_the_first_version_leaves_nothing(service: Service, bring: Any) -> None:
    piece = bring()
    adding.stop(service, piece.id)
    with pytest.raises(NotFound):
        rows.get(service.store, piece.id)


def test_stopping_another_version_leaves_what_was_added(service: Service, added: Any, bring: Any) -> None:
    added()
    piece = bring("1.1.0")
    adding.stop(service, piece.id)
    view = listing.find(service, piece.id)
    assert (view.piece.state, view.piece.version, view.piece.wanted) == ("added", "1.0.0", "")
    assert [each.version for each in rows.versions(service.store, piece.id)] == ["1.0.0"]
    with pytest.raises(Conflict, match="not being added"):
        adding.stop(service, piece.id)


def test_whoever_works_on_it_is_asked_to_stop(service: Service) -> None:
    piece = adding.begin(service, NAME)
    rows.claim(service)
    adding.stop(service, piece.id)
    assert rows.get(service.store, piece.id).stopping
