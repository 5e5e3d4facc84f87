"""OAuth clients at providers (table ``provider_clients``): a project's own, or the whole installation's.

A project's own client is "the developer's own": credentials of accounts made with it may be handed out. A client
of the installation was added by its operator and never is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webapp import audit
from webapp.errors import Conflict, NotFound
from webapp.kit import cursors
from webapp.kit.ids import new_id
from webapp.service.domain.base.keyring import INSTANCE, KeyGone, Place
from webapp.service.domain.base.sealed import WHOLE_INSTALLATION, SealedColumn
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import like
from webapp.store.contract import Reader, Row, Tx

SANDBOX_ID = "oa_sandbox"


@dataclass(frozen=True, slots=True)
class ProviderClient:
    """An OAuth client at a provider; ``project_id`` is None for the whole installation."""

    id: str
    project_id: str | None
    app: str
    client_id: str
    secret_sealed: bytes | None
    name: str
    description: str
    scopes: tuple[str, ...]
    additional_scopes: tuple[str, ...]
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list of a project's clients is limited to: a slug, and what the name, the slug or the id holds."""

    app: str | None = None
    q: str | None = None


def add(
    service: Service,
    *,
    app: str,
    client_id: str,
    client_secret: str | None,
    project_id: str | None = None,
    name: str = "",
    description: str = "",
    scopes: Sequence[str] = (),
    additional_scopes: Sequence[str] = (),
) -> ProviderClient:
    """Register a client for the app with slug ``app``. The secret is sealed and never shown again.

    ``additional_scopes`` are asked for too, but a person may leave them out.
    """
    oauth_app_id, now = new_id("oa"), service.clock()
    place = _place(project_id, oauth_app_id)
    with service.store.write() as tx:
        sealed = service.keys.seal_box(tx, place, client_secret.encode()) if client_secret else None
        tx.run(
            "INSERT INTO provider_clients (id, project_id, app, client_id, secret_sealed, name, description, scopes, "
            "additional_scopes, created_at, updated_at) VALUES (:id, :project, :app, :client, :secret, :name, "
            ":description, :scopes, :additional, :now, :now)",
            {
                "id": oauth_app_id,
                "project": project_id,
                "app": app,
                "client": client_id,
                "secret": sealed,
                "name": name or app,
                "description": description,
                "scopes": json.dumps(list(scopes)),
                "additional": json.dumps(list(additional_scopes)),
                "now": now,
            },
        )
        added = get(tx, oauth_app_id)
        _note(tx, now, added, "created", f"Added an OAuth client for {app}.")
    return added


def get(reader: Reader, oauth_app_id: str) -> ProviderClient:
    """The client ``oauth_app_id``, for those who already hold it through an account or attempt.

    Raises :class:`NotFound`.
    """
    row = reader.one("SELECT * FROM provider_clients WHERE id = :id", {"id": oauth_app_id})
    if row is None:
        raise NotFound("There is no such OAuth client.")
    return _client(row)


def choose(reader: Reader, project_id: str, app: str, oauth_app_id: str | None = None) -> ProviderClient | None:
    """The client a connection of ``app`` uses: the one asked for, else the project's newest, else the installation's.

    Raises :class:`NotFound` when the one asked for is not there, for another app or another project's.
    """
    if oauth_app_id is not None:
        found = get(reader, oauth_app_id)
        if found.app != app or found.project_id not in (None, project_id):
            raise NotFound("There is no such OAuth client.")
        return found
    row = reader.one(
        "SELECT * FROM provider_clients WHERE app = :app AND (project_id = :project OR project_id IS NULL) "
        "ORDER BY CASE WHEN project_id IS NULL THEN 1 ELSE 0 END, created_at DESC, id LIMIT 1",
        {"app": app, "project": project_id},
    )
    return _client(row) if row else None


def own(reader: Reader, project_id: str, oauth_app_id: str) -> ProviderClient:
    """The client ``oauth_app_id`` that ``project_id`` registered itself. Raises :class:`NotFound`."""
    found = get(reader, oauth_app_id)
    if found.project_id != project_id:
        raise NotFound("There is no such OAuth client.")
    return found


def page(reader: Reader, project_id: str, wanted: Filter, window: cursors.Window) -> cursors.Page[ProviderClient]:
    """The project's own clients, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = "project_id = :project", dict[str, Any](project=project_id)
    if wanted.app is not None:
        where, params["app"] = f"{where} AND app = :app", wanted.app
    if wanted.q:
        where += (
            " AND (LOWER(name) LIKE :q ESCAPE '!' OR app LIKE :q ESCAPE '!' OR LOWER(client_id) LIKE :q ESCAPE '!')"
        )
        params["q"] = f"%{like(wanted.q.lower())}%"
    mark = cursors.fingerprint("provider_clients", where, params)
    plan = cursors.keyset(window, mark, ("created_at", "id"), descending=False)
    rows = reader.all(
        f"SELECT * FROM provider_clients WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",  # noqa: S608
        {**params, **plan.params, "limit": plan.limit},
    )
    total = reader.one(f"SELECT COUNT(*) AS n FROM provider_clients WHERE {where}", params)  # noqa: S608
    found = [_client(row) for row in rows]
    return cursors.page(found, window, plan, mark, lambda one: (one.created_at, one.id), total["n"] if total else 0)


def update(service: Service, client: ProviderClient, *, client_secret: str | None = None) -> ProviderClient:
    """Write ``client`` as it stands now, and another secret where one is given.

    Raises :class:`Conflict` for another client id while accounts live by this one, :class:`NotFound`.
    """
    with service.store.write() as tx:
        before = get(tx, client.id)
        if before.client_id != client.client_id and (used := _accounts(tx, client.id)):
            raise Conflict(f"{_counted(used)} connected with this client id; add another OAuth client instead.")
        sealed = before.secret_sealed
        if client_secret:
            sealed = service.keys.seal_box(tx, _place(client.project_id, client.id), client_secret.encode())
        tx.run(
            "UPDATE provider_clients SET client_id = :client, secret_sealed = :secret, name = :name, "
            "description = :description, scopes = :scopes, additional_scopes = :additional, updated_at = :now "
            "WHERE id = :id",
            {
                "client": client.client_id,
                "secret": sealed,
                "name": client.name,
                "description": client.description,
                "scopes": json.dumps(client.scopes),
                "additional": json.dumps(client.additional_scopes),
                "now": service.clock(),
                "id": client.id,
            },
        )
        told = " and its secret" if client_secret else ""
        _note(tx, service.clock(), client, "updated", f"Changed the OAuth client for {client.app}{told}.")
        return get(tx, client.id)


def remove(service: Service, client: ProviderClient) -> None:
    """Delete ``client``.

    Raises :class:`Conflict` while accounts were connected with it, whose tokens could not be refreshed any more, or
    while an app override names it.
    """
    with service.store.write() as tx:
        if used := _accounts(tx, client.id):
            raise Conflict(f"{_counted(used)} connected with this OAuth client; disconnect what uses it first.")
        if tx.one("SELECT 1 FROM app_overrides WHERE oauth_app_id = :id LIMIT 1", {"id": client.id}):
            raise Conflict("An app override uses this OAuth client; change or delete the override first.")
        _note(tx, service.clock(), client, "deleted", f"Removed the OAuth client for {client.app}.")
        tx.run("DELETE FROM provider_clients WHERE id = :id", {"id": client.id})


def list_all(reader: Reader) -> list[ProviderClient]:
    """All clients, oldest first; for the operator."""
    return [_client(row) for row in reader.all("SELECT * FROM provider_clients ORDER BY created_at, id")]


def own_clients(reader: Reader, project_id: str | None) -> dict[str, str]:
    """The newest of the project's own clients by the slug of its app; none without a project."""
    sql = "SELECT app, id FROM provider_clients WHERE project_id = :project ORDER BY app, created_at, id"
    return {row["app"]: row["id"] for row in reader.all(sql, {"project": project_id})} if project_id else {}


def secret(service: Service, client: ProviderClient) -> str | None:
    """The client's secret, opened; None for a public client."""
    if client.secret_sealed is None:
        return None
    try:
        return service.keys.open_box(_place(client.project_id, client.id), client.secret_sealed).decode()
    except KeyGone:
        again = get(service.store, client.id)
        if again.secret_sealed == client.secret_sealed:
            raise
        return secret(service, again)


def ensure_sandbox(service: Service) -> tuple[str, str]:
    """The installation's client at the built-in third party, made once; its id and its secret."""
    client_id, client_secret = "patchbay", service.keys.derive("sandbox-client").hex()
    now = service.clock()
    with service.store.write() as tx:
        sealed = service.keys.seal_box(tx, _place(None, SANDBOX_ID), client_secret.encode())
        tx.run(
            "INSERT INTO provider_clients (id, project_id, app, client_id, secret_sealed, name, description, scopes, "
            "created_at, updated_at) VALUES (:id, NULL, 'sandbox', :client, :secret, 'Sandbox', '', '[]', :now, :now) "
            "ON CONFLICT (id) DO UPDATE SET secret_sealed = excluded.secret_sealed",
            {"id": SANDBOX_ID, "client": client_id, "secret": sealed, "now": now},
        )
    return client_id, client_secret


def _note(tx: Tx, at: int, client: ProviderClient, verb: str, sentence: str) -> None:
    audit.write(tx, at, "oauth_app", client.id, verb, sentence, project=client.project_id)


def _accounts(reader: Reader, oauth_app_id: str) -> int:
    row = reader.one("SELECT COUNT(*) AS n FROM accounts WHERE oauth_app_id = :id", {"id": oauth_app_id})
    return int(row["n"]) if row else 0


def _counted(accounts: int) -> str:
    return "One account was" if accounts == 1 else f"{accounts:,} accounts were"


def _place(project_id: str | None, oauth_app_id: str) -> Place:
    return Place(project_id or INSTANCE, "provider_clients", oauth_app_id, "secret")


SEALED = SealedColumn("provider_clients", "secret_sealed", owner=WHOLE_INSTALLATION)


def _client(row: Row) -> ProviderClient:
    return ProviderClient(
        id=row["id"],
        project_id=row["project_id"],
        app=row["app"],
        client_id=row["client_id"],
        secret_sealed=row["secret_sealed"],
        name=row["name"],
        description=row["description"],
        scopes=tuple(json.loads(row["scopes"])),
        additional_scopes=tuple(json.loads(row["additional_scopes"])),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
