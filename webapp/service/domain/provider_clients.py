"""OAuth clients at providers (table ``provider_clients``): a project's own, or the whole installation's.

A project's own client is "the developer's own": credentials of accounts made with it may be handed out. A client
of the installation was added by its operator and never is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from webapp.errors import NotFound
from webapp.kit.ids import new_id
from webapp.service.domain.keyring import INSTANCE, KeyGone, Place
from webapp.service.domain.sealed import SealedColumn
from webapp.service.domain.service import Service
from webapp.store.contract import Reader, Row

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
    created_at: int
    updated_at: int


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
) -> ProviderClient:
    """Register a client for the app with slug ``app``. The secret is sealed and never shown again."""
    oauth_app_id, now = new_id("oa"), service.clock()
    place = _place(project_id, oauth_app_id)
    with service.store.write() as tx:
        sealed = service.keys.seal_box(tx, place, client_secret.encode()) if client_secret else None
        tx.run(
            "INSERT INTO provider_clients (id, project_id, app, client_id, secret_sealed, name, description, scopes, "
            "created_at, updated_at) VALUES (:id, :project, :app, :client, :secret, :name, :description, :scopes, "
            ":now, :now)",
            {
                "id": oauth_app_id,
                "project": project_id,
                "app": app,
                "client": client_id,
                "secret": sealed,
                "name": name or app,
                "description": description,
                "scopes": json.dumps(list(scopes)),
                "now": now,
            },
        )
    return get(service.store, oauth_app_id)


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


def every(reader: Reader) -> list[ProviderClient]:
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


def _place(project_id: str | None, oauth_app_id: str) -> Place:
    return Place(project_id or INSTANCE, "provider_clients", oauth_app_id, "secret")


SEALED = SealedColumn(
    "provider_clients",
    "SELECT id, COALESCE(project_id, 'instance') AS owner, secret_sealed AS sealed, NULL AS version "
    "FROM provider_clients WHERE id > :after AND secret_sealed IS NOT NULL ORDER BY id LIMIT :limit",
    "UPDATE provider_clients SET secret_sealed = :sealed WHERE id = :id",
    _place,
)


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
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
