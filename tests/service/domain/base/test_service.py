"""The bundle that every verb gets: it finds apps, and opens the sandbox's address to the sandbox's apps alone. Sealed
columns: what is sealed opens in its own row alone, and is read again where a rotation came in between."""

from dataclasses import replace

import pytest

from webapp.errors import NotFound
from webapp.kit.clock import Deadline
from webapp.kit.crypto import CannotOpen
from webapp.service.domain.base.keyring import INSTANCE, KeyGone
from webapp.service.domain.base.service import WHOLE_INSTALLATION, SealedColumn, Service, waking
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Target
from webapp.service.outbound.urls import Url, parse_url


def test_an_app_is_found_by_slug_and_by_id(service: Service) -> None:
    app = service.app("tinykeys")
    assert service.app(app.id).slug == "tinykeys"
    for unknown in ("", "nothing", "app_nothing", "TINYKEYS "):
        with pytest.raises(NotFound):
            service.app(unknown)


def test_the_sandbox_is_open_to_its_own_apps_only(service: Service) -> None:
    served = replace(service, settings=replace(service.settings, sandbox=True))
    url = parse_url(f"{served.settings.sandbox_url}/api/me")
    assert isinstance(url, Url)
    sandbox, other = service.app("sandbox"), service.app("tinykeys")
    assert isinstance(served.client_for(sandbox).guard.pin(url, Deadline(5)), Target)
    assert isinstance(served.client_for(other).guard.pin(url, Deadline(5)), Failure)
    closed = replace(service, settings=replace(service.settings, sandbox=False))
    assert isinstance(closed.client_for(sandbox).guard.pin(url, Deadline(5)), Failure)


def test_whoever_wakes_wakes_the_own_worker_and_notifies_those_of_other_machines(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[str] = []
    monkeypatch.setattr(type(service.store), "notify", lambda store: woken.append("others"))
    service.wake()
    assert woken == ["others"]
    waking(lambda: woken.append("own"), service.store)()
    assert woken == ["others", "own", "others"]


KEYS = SealedColumn("signing_keys", "key_sealed")


def keep(service: Service, project_id: str, plain: bytes) -> bytes:
    """Seal ``plain`` into the row ``a``; the box."""
    with service.store.write() as tx:
        box = KEYS.seal(service, tx, project_id, "a", plain)
        tx.run(
            "INSERT INTO signing_keys (id, project_id, key_sealed, created_at, updated_at) "
            "VALUES ('a', :project, :box, 1, 1) ON CONFLICT (id) DO UPDATE SET key_sealed = excluded.key_sealed",
            {"project": project_id, "box": box},
        )
    return box


def test_what_was_sealed_opens_in_its_own_row_only(service: Service, scene: Scene) -> None:
    box = keep(service, scene.project_id, b"secret")
    assert b"secret" not in box
    assert KEYS.open(service, scene.project_id, "a", box) == b"secret"
    with pytest.raises(CannotOpen):
        KEYS.open(service, scene.project_id, "b", box)


def test_a_box_that_a_rotation_replaced_is_read_again(service: Service, scene: Scene) -> None:
    old = keep(service, scene.project_id, b"secret")
    with service.store.write() as tx:
        newest = service.keys.add_version(tx, scene.project_id)
    keep(service, scene.project_id, b"secret")
    with service.store.write() as tx:
        tx.run("DELETE FROM data_keys WHERE owner = :owner AND version < :newest",
               {"owner": scene.project_id, "newest": newest})  # fmt: skip
    service.keys._keys.clear()
    assert KEYS.open(service, scene.project_id, "a", old) == b"secret"
    with service.store.write() as tx:
        tx.run("DELETE FROM signing_keys")
    with pytest.raises(KeyGone):
        KEYS.open(service, scene.project_id, "a", old)


def test_a_rotation_pages_through_the_rows_and_writes_one_column(service: Service, scene: Scene) -> None:
    keep(service, scene.project_id, b"secret")
    (row,) = service.store.all(KEYS.page, {"after": "", "limit": 5})
    assert (row["id"], row["owner"], row["version"]) == ("a", scene.project_id, None)
    assert service.store.all(KEYS.page, {"after": "a", "limit": 5}) == []
    with service.store.write() as tx:
        assert tx.run(KEYS.update, {"id": "a", "sealed": b"other"}) == 1
    assert service.store.one("SELECT key_sealed, updated_at FROM signing_keys") == {
        "key_sealed": b"other", "updated_at": 1,
    }  # fmt: skip


def test_a_row_without_a_project_belongs_to_the_whole_installation(service: Service) -> None:
    column = SealedColumn("provider_clients", "secret_sealed", owner=WHOLE_INSTALLATION)
    with service.store.write() as tx:
        box = column.seal(service, tx, INSTANCE, "c", b"secret")
        tx.run(
            "INSERT INTO provider_clients (id, app, client_id, secret_sealed, name, description, scopes, created_at, "
            "updated_at) VALUES ('c', 'acme', 'x', :box, '', '', '[]', 1, 1)",
            {"box": box},
        )
    row = next(row for row in service.store.all(column.page, {"after": "", "limit": 5}) if row["id"] == "c")
    assert row["owner"] == INSTANCE
    assert column.open(service, row["owner"], row["id"], row["sealed"]) == b"secret"


def test_a_column_may_keep_the_version_beside_the_box() -> None:
    column = SealedColumn("accounts", "credentials_sealed", version="credentials_key")
    assert "credentials_key AS version" in column.page
    assert column.update.startswith("UPDATE accounts SET credentials_sealed = :sealed, credentials_key = :version ")
