"""Changing and removing integrations."""

from collections import Counter
from typing import Any

import pytest

from webapp.errors import Conflict, NotFound
from webapp.service.domain.base import piece_reach
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.pieces import keeping, rows
from webapp.service.domain.instance.pieces.uses import Uses
from webapp.service.pieces.packages import Places


def test_it_is_shown_and_hidden(service: Service, added: Any, bring: Any) -> None:
    piece = added()
    assert keeping.hide(service, piece.id).hidden
    assert not keeping.show(service, piece.id).hidden


def test_before_it_is_added_nothing_can_be_changed(service: Service, bring: Any) -> None:
    with pytest.raises(Conflict, match="not added yet"):
        keeping.show(service, bring().id)


def test_a_host_that_is_allowed_is_refused_no_more(
    service: Service, added: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = added()
    monkeypatch.setattr(piece_reach, "package_of", lambda path: piece.package)
    piece_reach.note(service, "x.json", ["cdn.shop.example", "b.example"])
    assert keeping.allow(service, piece.id, "cdn.shop.example").hosts == ("api.shop.example", "cdn.shop.example")
    assert [each.host for each in piece_reach.refused_of(service.store, piece.package)] == ["b.example"]
    assert piece_reach.hosts(service, "x.json") == ("api.shop.example", "cdn.shop.example")


def test_it_is_removed_with_its_files(service: Service, added: Any) -> None:
    piece = added()
    place = Places(service.settings.data).package(piece.folder, "1.0.0")
    place.mkdir(parents=True)
    keeping.remove(service, piece.id)
    assert not place.exists()
    with pytest.raises(NotFound):
        rows.get(service.store, piece.id)


def test_what_is_used_is_removed_only_when_told_so(
    service: Service, added: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    piece = added()
    monkeypatch.setattr(keeping, "used", lambda *_: Uses(1, Counter({"1.0.0": 2})))
    with pytest.raises(Conflict, match=r"used by 1 account, 2 triggers\."):
        keeping.remove(service, piece.id)
    keeping.remove(service, piece.id, with_uses=True)
    assert rows.all_of(service.store) == []
