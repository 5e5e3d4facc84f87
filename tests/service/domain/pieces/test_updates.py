"""Newer versions in the registry, and what authors change."""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.service.domain.pieces.planted import plant
from tests.service.domain.pieces.tried import NAME, describe
from webapp.errors import NotFound, UpstreamFailed
from webapp.kit.clock import DAY, HOUR
from webapp.service.domain.base.service import Service
from webapp.service.domain.pieces import installation, listing, owner_decisions, pieces, updates
from webapp.service.domain.pieces.owner_decisions import Source
from webapp.service.pieces import installer, packages
from webapp.service.pieces.installer import InstalledPackage, Installer
from webapp.service.pieces.registry import Registry, Release


def test_the_registry_is_asked_once_a_day(service: Service, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = plant(service)
    monkeypatch.setattr(Registry, "look_up", lambda *_: Release(piece.package, "2.0.0", "2.0.0"))
    assert not updates.check_next(service)
    clock.advance(DAY)
    assert updates.check_next(service)
    assert listing.find(service, piece.id).has_newer
    assert not updates.check_next(service)


def test_one_that_cannot_be_asked_is_asked_again_in_an_hour(
    service: Service, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise UpstreamFailed("It is away.")

    plant(service)
    monkeypatch.setattr(Registry, "look_up", away)
    clock.advance(DAY)
    assert updates.check_next(service)
    assert not updates.check_next(service)
    clock.advance(HOUR)
    assert updates.check_next(service)


def test_the_registry_is_asked_at_once_where_somebody_wishes(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    piece, other, own = plant(service), plant(service, "kiosk"), plant(service, "own", source="folder")
    newest = {piece.package: Release(piece.package, "2.0.0", "2.0.0")}

    def look_up(_: Registry, wanted: Any, _deadline_s: float) -> Release:
        if wanted.package in newest:
            return newest[wanted.package]
        raise NotFound("The registry has it no longer.")

    monkeypatch.setattr(Registry, "look_up", look_up)
    updates.check_registry(service)
    assert listing.find(service, piece.id).has_newer
    assert not listing.find(service, other.id).has_newer and not listing.find(service, own.id).has_newer

    def away(*_: object) -> None:
        raise UpstreamFailed("It is away.")

    monkeypatch.setattr(Registry, "look_up", away)
    with pytest.raises(UpstreamFailed, match="It is away"):
        updates.check_registry(service)


def test_a_slow_registry_is_not_waited_for_long(service: Service, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(service)
    clock.advance(HOUR)
    plant(service, "kiosk")
    now, asked, takes_s = [0.0], [], updates.CHECK_S * 2 / 3

    def look_up(_: Registry, wanted: Any, deadline_s: float) -> Release:
        asked.append((wanted.package.rpartition("-")[2], deadline_s))
        now[0] += min(takes_s, deadline_s)
        if takes_s >= deadline_s:
            raise UpstreamFailed("It did not end in time.")
        return Release(wanted.package, "2.0.0", "2.0.0")

    monkeypatch.setattr(updates, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Registry, "look_up", look_up)
    clock.advance(HOUR)
    for _ in range(2):  # those that were checked longest ago come first
        with pytest.raises(UpstreamFailed, match="1 of 2 integrations were checked"):
            updates.check_registry(service)
        clock.advance(HOUR)
    whole, rest = updates.CHECK_S, updates.CHECK_S - takes_s
    assert asked == [("shop", whole), ("kiosk", rest), ("kiosk", whole), ("shop", rest)]
    takes_s = updates.CHECK_S  # the first one has all the time, so the failure is of the registry
    with pytest.raises(UpstreamFailed, match="It did not end in time"):
        updates.check_registry(service)


def test_what_an_author_changes_is_taken_in_without_being_confirmed_again(
    service: Service, clock: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describe(monkeypatch)
    manifest = tmp_path / "package.json"
    manifest.write_text(json.dumps({"name": NAME, "version": "0.1.0"}))

    def from_folder(self: Installer, source: Path, folder: str, version: str) -> InstalledPackage:
        own = self.places.package(folder, version) / "node_modules" / NAME
        own.mkdir(parents=True)
        (own / "package.json").write_text(manifest.read_text())
        return InstalledPackage(NAME, version, "{}", packages.digest(own.parents[1]), 1, "", "", "", "")

    monkeypatch.setattr(installer.Installer, "from_folder", from_folder)
    piece = owner_decisions.begin(service, NAME, source=Source("folder", tmp_path))
    installation.work(service)
    owner_decisions.confirm(service, piece.id, ["api.kiosk.example"], shown=True)
    installation.work(service)
    first = pieces.get(service.store, piece.id)
    assert updates.of_authors(service, [first]) == {NAME: tmp_path}
    os.utime(manifest, ns=(0, (clock() - 1) * 1_000_000))
    updates.reinstall_changed(service, {NAME: tmp_path})
    assert not installation.work(service)
    clock.advance(5_000)
    os.utime(manifest, ns=(0, (clock() - 1_000) * 1_000_000))
    updates.reinstall_changed(service, {NAME: tmp_path})
    assert installation.work(service) and installation.work(service)
    second = pieces.get(service.store, piece.id)
    assert (second.state, second.hosts) == ("added", ("api.kiosk.example",))
    assert second.version != first.version
    clock.advance(5_000)
    os.utime(manifest, ns=(0, (clock() - 2_000) * 1_000_000))
    owner_decisions.set_hosts(service, piece.id, ["cdn.kiosk.example"])  # behind the change, and before it was seen
    updates.reinstall_changed(service, {NAME: tmp_path})
    assert installation.work(service) and installation.work(service)
    assert pieces.get(service.store, piece.id).version not in (first.version, second.version)
    updates.reinstall_changed(service, {NAME: tmp_path})
    assert not installation.work(service)
