"""Another instance key: only while nothing runs; what was sealed opens, what was derived has changed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from webapp.errors import Conflict, Invalid, Unauthorized
from webapp.kit.clock import FakeClock
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.base.keyring import MissingKey, Place, WeakKey, WrongKey
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.instance import instance_key
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings
from webapp.store.sqlite import SQLiteStore

NEW = "nF6yB1gJ8uS3eX5dQ0vT7kA2wZ9hM4cRpL"


def furnished(settings: Settings, clock: FakeClock) -> tuple[Place, bytes]:
    service = open_service(settings, clock)
    place = Place(projects.create(service, name="Shop").id, "accounts", "apn_1", "credentials")
    with service.store.write() as tx:
        box = service.keys.seal_box(tx, place, b"canary")
    close_service(service)
    return place, box


@pytest.fixture
def reopened(settings: Settings, clock: FakeClock) -> Iterator[list[Service]]:
    opened: list[Service] = []
    yield opened
    for service in opened:
        close_service(service)


def test_the_key_file_is_replaced_and_the_old_one_opens_nothing(
    settings: Settings, clock: FakeClock, reopened: list[Service]
) -> None:
    place, box = furnished(settings, clock)
    path, first = settings.data / "keys", (settings.data / "keys").read_bytes()
    instance_key.rotate(settings, clock)
    assert path.read_bytes() != first and path.stat().st_mode & 0o777 == 0o600
    assert not (settings.data / "keys.new").exists()
    reopened.append(open_service(settings, clock))
    assert reopened[0].keys.open_box(place, box) == b"canary"
    path.write_bytes(first)
    with pytest.raises(WrongKey, match="does not open this database"):
        open_service(settings, clock)


def test_what_is_derived_changes_and_scripts_get_their_secret_from_init(
    settings: Settings, clock: FakeClock, reopened: list[Service]
) -> None:
    before = open_service(settings, clock)
    client, secret = oauth_clients.scripted(before)
    own, own_secret = oauth_clients.create(before, name="Server")
    token = access_tokens.issue(before, client, None).token
    close_service(before)
    instance_key.rotate(settings, clock)
    after = open_service(settings, clock)
    reopened.append(after)
    again, fresh = oauth_clients.scripted(after)
    assert again.id == client.id and fresh != secret
    assert oauth_clients.authenticate(after, client.id, fresh)
    assert oauth_clients.authenticate(after, client.id, secret) is None
    assert oauth_clients.authenticate(after, own.id, own_secret), "a secret that was made at random stays"
    with pytest.raises(Unauthorized):
        access_tokens.verify(after, token)


def test_a_key_from_the_settings_is_replaced_by_the_one_given(
    data: Path, clock: FakeClock, reopened: list[Service]
) -> None:
    old = Settings.from_env({"PATCHBAY_SECRET_KEY": "oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD"}, data=data)
    place, box = furnished(old, clock)
    for wrong in (None, "oH3nW8bE5tK1qV6xC9zM2rY7jL4fP0sGuD"):
        with pytest.raises(Invalid, match="differs"):
            instance_key.rotate(old, clock, wrong)
    instance_key.rotate(old, clock, NEW)
    with pytest.raises(WrongKey):
        open_service(old, clock)
    reopened.append(open_service(Settings.from_env({"PATCHBAY_SECRET_KEY": NEW}, data=data), clock))
    assert reopened[0].keys.open_box(place, box) == b"canary"
    assert not (data / "keys").exists()


@pytest.mark.embedded
def test_while_anything_runs_it_is_refused_and_what_runs_continues(
    settings: Settings, clock: FakeClock, reopened: list[Service]
) -> None:
    furnished(settings, clock)
    reopened.append(open_service(settings, clock))
    before = (settings.data / "keys").read_bytes()
    with pytest.raises(Conflict, match=r"Patchbay is running on .*; stop it first"):
        instance_key.rotate(settings, clock)
    assert (settings.data / "keys").read_bytes() == before
    projects.create(reopened[0], name="Another")


def test_a_key_file_changed_by_hand_lets_what_runs_continue_and_refuses_the_next_start(
    settings: Settings, clock: FakeClock, reopened: list[Service]
) -> None:
    furnished(settings, clock)
    running = open_service(settings, clock)
    reopened.append(running)
    (settings.data / "keys").write_text("0" * 64)
    project = projects.create(running, name="Another")
    place = Place(project.id, "accounts", "apn_1", "credentials")
    with running.store.write() as tx:
        box = running.keys.seal_box(tx, place, b"canary")
    assert running.keys.open_box(place, box) == b"canary"
    with pytest.raises(WrongKey, match="does not open this database"):
        open_service(settings, clock)


def test_a_missing_key_file_beside_a_database_is_never_replaced(
    settings: Settings, clock: FakeClock, reopened: list[Service]
) -> None:
    furnished(settings, clock)
    path = settings.data / "keys"
    away = path.rename(settings.data / "elsewhere")
    for _ in range(2):
        with pytest.raises(MissingKey, match="Put it back from where you keep it"):
            open_service(settings, clock)
    assert not path.exists()
    away.rename(path)
    reopened.append(open_service(settings, clock))


@pytest.mark.embedded
def test_a_key_file_that_was_lost_before_the_database_knew_it_is_made_anew(
    settings: Settings, clock: FakeClock, reopened: list[Service]
) -> None:
    with closing(SQLiteStore(settings.database)) as store:
        store.migrate()
    reopened.append(open_service(settings, clock))
    assert (settings.data / "keys").exists()


@pytest.mark.parametrize("moment", ["before the database knows", "before the file is in place"])
def test_killed_in_the_middle_either_key_opens_it(
    settings: Settings, clock: FakeClock, reopened: list[Service], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    place, box = furnished(settings, clock)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    at = (oauth_clients, "derive_again") if moment.endswith("knows") else (instance_key, "_put_in_place")
    monkeypatch.setattr(*at, die)
    with pytest.raises(KeyboardInterrupt):
        instance_key.rotate(settings, clock)
    monkeypatch.undo()
    assert (settings.data / "keys.new").exists()
    reopened.append(open_service(settings, clock))
    assert reopened[0].keys.open_box(place, box) == b"canary"
    assert (settings.data / "keys.new").exists() == moment.endswith("knows")
    close_service(reopened.pop())
    instance_key.rotate(settings, clock)
    reopened.append(open_service(settings, clock))
    assert reopened[0].keys.open_box(place, box) == b"canary"


def test_a_folder_without_a_database_is_refused(settings: Settings, clock: FakeClock) -> None:
    with pytest.raises(Invalid, match="no database"):
        instance_key.rotate(settings, clock)
    assert list(settings.data.iterdir()) == []


@pytest.mark.embedded
def test_the_lock_is_given_back(settings: Settings, clock: FakeClock) -> None:
    furnished(settings, clock)
    instance_key.rotate(settings, clock)
    SQLiteStore(settings.data / "patchbay.db").close()


def test_a_key_that_can_be_guessed_begins_nothing_and_continues_opening_what_it_began(
    data: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = Settings.from_env({"PATCHBAY_SECRET_KEY": "password" * 4}, data=data)
    with pytest.raises(WeakKey, match="can be guessed"):
        open_service(weak, clock)
    with monkeypatch.context() as before:
        before.setattr(instance_key, "is_weak", lambda _: False)
        close_service(open_service(weak, clock))
    close_service(open_service(weak, clock))
    with pytest.raises(WeakKey):
        instance_key.rotate(weak, clock, "changeme" * 4)
    instance_key.rotate(weak, clock, NEW)
    close_service(open_service(Settings.from_env({"PATCHBAY_SECRET_KEY": NEW}, data=data), clock))


def test_addresses_of_webhooks_are_found_by_the_new_key(
    settings: Settings, clock: FakeClock, reopened: list[Service]
) -> None:
    service, url = open_service(settings, clock), "https://a.example/1"
    scene = Scene(projects.create(service, name="Shop").id, "production")
    with service.store.write() as tx:
        before = endpoints.add(tx, service, "project", url, scene=scene)
    close_service(service)
    instance_key.rotate(settings, clock)
    reopened.append(service := open_service(settings, clock))
    (after,) = endpoints.of_url(service.store, service, scene, "project", url)
    assert after.id == before.id and after.url_hash != before.url_hash
    assert endpoints.url_of(service, after) == url
