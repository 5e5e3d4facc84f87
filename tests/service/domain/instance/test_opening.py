"""Opening a data folder: the same data each time, a catalog that is built once, and no other key."""

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from webapp.kit.clock import FakeClock
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.base.keyring import WrongKey
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.instance import opening, takeover
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import open_store

KEY = "kT7vQ2mX9cL4pR8wZ1sN6dF3hJ5gB0yAeU"  # what the folder was made with


@pytest.fixture
def settings(settings: Settings, catalog_folder: Path) -> Settings:
    """Over a folder whose catalog is built already, since that takes most of the time."""
    shutil.copytree(catalog_folder, settings.data, dirs_exist_ok=True)
    return replace(settings, secret_key=KEY)


def test_what_was_kept_is_there_when_it_is_opened_again(settings: Settings, clock: FakeClock) -> None:
    first = opening.open_service(settings, clock)
    project = projects.create(first, name="Acme", support_email="help@acme.example")
    built = (settings.data / "catalog.db").stat().st_mtime_ns
    opening.close_service(first)
    second = opening.open_service(settings, clock)
    try:
        assert projects.get(second.store, project.id).name == "Acme"
        assert (settings.data / "catalog.db").stat().st_mtime_ns == built
    finally:
        opening.close_service(second)


def test_another_key_is_refused(settings: Settings, clock: FakeClock) -> None:
    service = opening.open_service(settings, clock)
    opening.close_service(service)
    with pytest.raises(WrongKey):
        opening.open_service(replace(settings, secret_key="x" * 40), clock)
    opening.close_service(opening.open_service(settings, clock))


def test_addresses_from_before_they_were_sealed_are_sealed_before_anybody_is_served(
    settings: Settings, clock: FakeClock
) -> None:
    service = opening.open_service(settings, clock)
    scene = Scene(projects.create(service, name="Acme", support_email="help@acme.example").id, "production")
    url = "https://a.example/canary-address"
    token = str(connect_tokens.create(service, scene, TokenRequest("alice"), client_id=None)["token"])
    with service.store.write() as tx:
        endpoints.add(tx, service, "project", url, scene=scene)
        tx.run("UPDATE endpoints SET masked_url = :url, url_sealed = NULL, url_hash = NULL", {"url": url})
        tx.run("UPDATE connect_tokens SET webhook_uri = :url", {"url": url})
    opening.close_service(service)
    service = opening.open_service(settings, clock)
    try:
        (endpoint,) = endpoints.of_url(service.store, service, scene, "project", url)
        assert (endpoints.url_of(service, endpoint), endpoint.masked_url) == (url, "https://a.example/…")
        assert connect_tokens.webhook_uri_of(service, connect_tokens.verify(service, token)) == url
        service.store.checkpoint()
        assert not [file for file in settings.data.glob("patchbay.db*") if b"canary-address" in file.read_bytes()]
    finally:
        opening.close_service(service)


@pytest.mark.embedded
def test_waking_the_worker_wakes_those_of_other_machines_too(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken = list[str]()
    monkeypatch.setattr(SQLiteStore, "notify", lambda _: woken.append("others"))
    service = opening.open_service(settings, clock, wake=lambda: woken.append("ours"))
    service.wake()
    assert woken == ["ours", "others"]
    opening.close_service(service)


def test_one_that_could_not_be_opened_leaves_no_life_behind(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Trouble(Exception):
        """Something failed after the process had its number."""

    def fail(_: object) -> int:
        raise Trouble

    ended: list[int] = []
    give_up = takeover.give_up

    def note(service: Service) -> None:
        ended.append(service.generation)
        give_up(service)

    monkeypatch.setattr(endpoints, "seal_clear_addresses", fail)
    monkeypatch.setattr(takeover, "give_up", note)
    with pytest.raises(Trouble):
        opening.open_service(settings, clock)
    monkeypatch.undo()
    with closing(open_store(settings)) as store:
        assert len(ended) == 1 and store.tuples("SELECT n FROM generations") == []
