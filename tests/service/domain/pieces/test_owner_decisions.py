"""Adding an integration: begun, confirmed by an owner, or stopped.

Changing and removing integrations.
"""

from collections import Counter
from typing import Any

import pytest

from webapp import audit
from webapp.errors import Conflict, Invalid, NotFound
from webapp.kit.cursors import Window
from webapp.service.components.pieces import node
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import listing, owner_decisions, pieces, uses
from webapp.service.domain.pieces.uses import Uses
from webapp.service.pieces.packages import Places

NAME = "@activepieces/piece-shop"


def sentences(service: Service) -> list[str]:
    page = audit.page(service.store, audit.Filter(noun=owner_decisions.NOUN), Window(limit=20))
    return [entry.sentence for entry in page.items]


def test_what_is_begun_waits_for_whoever_works(service: Service) -> None:
    piece = owner_decisions.begin(service, "shop@1.2.0")
    assert (piece.package, piece.folder, piece.title, piece.state, piece.wanted, piece.step) == (
        NAME, "piece-shop", "Shop", "adding", "1.2.0", 1,
    )  # fmt: skip
    with pytest.raises(Conflict, match="being added just now"):
        owner_decisions.begin(service, NAME)


def test_without_node_nothing_is_begun(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "find", lambda: None)
    with pytest.raises(Conflict, match="Node"):
        owner_decisions.begin(service, NAME)
    assert listing.listed(service) == []


def test_an_owner_confirms_what_it_may_reach(service: Service, bring: Any) -> None:
    piece = bring()
    with pytest.raises(Invalid, match="not a host rule"):
        owner_decisions.confirm(service, piece.id, ["https://x.example/path"])
    confirmed = owner_decisions.confirm(service, piece.id, [" API.shop.example ", "*.shop.example", ""], shown=True)
    assert (confirmed.state, confirmed.hidden) == ("writing", False)
    assert confirmed.hosts == ("api.shop.example", "*.shop.example")
    with pytest.raises(Conflict, match="does not wait"):
        owner_decisions.confirm(service, piece.id, [])
    assert (
        sentences(service)[0] == f"Added the integration {NAME} 1.0.0; it may reach api.shop.example, *.shop.example."
    )


def test_what_is_confirmed_is_what_was_looked_at(service: Service, bring: Any) -> None:
    piece = bring("1.0.0")
    owner_decisions.stop(service, piece.id)
    piece = bring("1.1.0")  # by somebody else, while the page of 1.0.0 stood open
    with pytest.raises(Conflict, match=r"Version 1\.1\.0 was brought meanwhile"):
        owner_decisions.confirm(service, piece.id, [], version="1.0.0")
    assert pieces.get(service.store, piece.id).state == "ready"
    assert owner_decisions.confirm(service, piece.id, [], version="1.1.0").state == "writing"


def test_an_older_version_does_not_come_back_below_a_deployed_trigger(
    service: Service, added: Any, bring: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    added("1.1.0")
    piece = bring("1.0.0")
    monkeypatch.setattr(uses, "pinned", lambda *_: {"1.1.0"})
    with pytest.raises(Conflict, match=r"deployed on 1\.1\.0, which is newer"):
        owner_decisions.confirm(service, piece.id, [])


def test_stopping_the_first_version_leaves_nothing(service: Service, bring: Any) -> None:
    piece = bring()
    owner_decisions.stop(service, piece.id)
    with pytest.raises(NotFound):
        pieces.get(service.store, piece.id)


def test_stopping_another_version_leaves_what_was_added(service: Service, added: Any, bring: Any) -> None:
    added()
    piece = bring("1.1.0")
    owner_decisions.stop(service, piece.id)
    view = listing.find(service, piece.id)
    assert (view.piece.state, view.piece.version, view.piece.wanted) == ("added", "1.0.0", "")
    assert [each.version for each in pieces.versions(service.store, piece.id)] == ["1.0.0"]
    with pytest.raises(Conflict, match="not being added"):
        owner_decisions.stop(service, piece.id)


def test_whoever_works_on_it_is_asked_to_stop(service: Service) -> None:
    piece = owner_decisions.begin(service, NAME)
    pieces.claim(service)
    owner_decisions.stop(service, piece.id)
    assert pieces.get(service.store, piece.id).stopping


def test_it_is_shown_and_hidden(service: Service, added: Any, bring: Any) -> None:
    piece = added()
    assert owner_decisions.hide(service, piece.id).hidden
    assert not owner_decisions.show(service, piece.id).hidden


def test_before_it_is_added_nothing_can_be_changed(service: Service, bring: Any) -> None:
    with pytest.raises(Conflict, match="not added yet"):
        owner_decisions.show(service, bring().id)


def test_a_host_that_is_allowed_is_refused_no_more(
    service: Service, added: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = added()
    monkeypatch.setattr(piece_hosts, "package_of", lambda path: piece.package)
    piece_hosts.note(service, "x.json", ["cdn.shop.example", "b.example"])
    assert owner_decisions.allow(service, piece.id, "cdn.shop.example").hosts == (
        "api.shop.example",
        "cdn.shop.example",
    )
    assert [each.host for each in piece_hosts.refused_of(service.store, piece.package)] == ["b.example"]
    assert piece_hosts.hosts(service, "x.json") == ("api.shop.example", "cdn.shop.example")


def test_it_is_removed_with_its_files(service: Service, added: Any) -> None:
    piece = added()
    place = Places(service.settings.data).package(piece.folder, "1.0.0")
    place.mkdir(parents=True)
    owner_decisions.remove(service, piece.id)
    assert not place.exists()
    with pytest.raises(NotFound):
        pieces.get(service.store, piece.id)


def test_what_is_used_is_removed_only_when_told_so(
    service: Service, added: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = added()
    monkeypatch.setattr(owner_decisions, "used", lambda *_: Uses(1, Counter({"1.0.0": 2})))
    with pytest.raises(Conflict, match=r"used by 1 account, 2 triggers\."):
        owner_decisions.remove(service, piece.id)
    owner_decisions.remove(service, piece.id, with_uses=True)
    assert pieces.all_of(service.store) == []
