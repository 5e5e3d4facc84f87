"""Which OAuth clients a project has at providers, and what each of them serves (table ``provider_clients``)."""

from dataclasses import dataclass
from typing import Any

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.service.domain.accounts import provider_clients
from webapp.service.domain.accounts.provider_clients import ProviderClient
from webapp.store.contract import Reader
from webapp.store.table import Rows

_CLIENTS = Rows("provider_clients", ProviderClient)


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list of a project's clients is limited to: a slug, and what the name, the slug or the id holds."""

    app: str | None = None
    q: str | None = None


def own(reader: Reader, project_id: str, oauth_app_id: str) -> ProviderClient:
    """The client ``oauth_app_id`` that ``project_id`` registered itself. Raises :class:`NotFound`."""
    client = provider_clients.get(reader, oauth_app_id)
    if not client.developers_own(project_id):
        raise NotFound("There is no such OAuth client.")
    return client


def page(reader: Reader, project_id: str, filters: Filter, window: cursors.Window) -> cursors.Page[ProviderClient]:
    """The project's own clients, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = "project_id = :project AND external_user_id IS NULL", dict[str, Any](project=project_id)
    if filters.app is not None:
        where, params["app"] = f"{where} AND app = :app", filters.app
    if filters.q:
        where += " AND (holds(name, :q) OR holds(app, :q) OR holds(client_id, :q))"
        params["q"] = filters.q
    return _CLIENTS.page(reader, window, where, params)


def list_all(reader: Reader) -> list[ProviderClient]:
    """All clients, oldest first; for the operator."""
    return _CLIENTS.all(reader, "external_user_id IS NULL ORDER BY created_at, id")


def own_clients(reader: Reader, project_id: str | None) -> dict[str, str]:
    """The newest of the project's own clients by the slug of its app; none without a project."""
    if project_id is None:
        return {}
    clients = _CLIENTS.all(
        reader,
        "project_id = :project AND external_user_id IS NULL ORDER BY app, created_at, id",
        {"project": project_id},
    )
    return {client.app: client.id for client in clients}


def apps_with_client(reader: Reader, project_id: str | None) -> frozenset[str]:
    """The slugs of the apps that a connection in the project has an OAuth client for."""
    rows = reader.tuples(
        "SELECT DISTINCT app FROM provider_clients WHERE (project_id IS NULL OR project_id = :project) "
        "AND external_user_id IS NULL",
        {"project": project_id},
    )
    return frozenset(slug for (slug,) in rows)


@dataclass(frozen=True, slots=True)
class ClientUse:
    """What a client serves: how many accounts were connected with it, the other apps that share it (slugs), whether new
    accounts of its app are, and whether the installation has a client for that app besides."""

    accounts: int
    shared_with: tuple[str, ...]
    used_for_new: bool
    installation_has_one: bool


def use_of(reader: Reader, client: ProviderClient) -> ClientUse:
    """What ``client`` serves."""
    chosen = provider_clients.choose(reader, client.project_id or "", client.app)
    others = provider_clients.sharing(reader, client)
    return ClientUse(
        accounts=provider_clients.accounts_of(reader, client.id),
        shared_with=tuple(other.app for other in others if other.id != client.id),
        used_for_new=chosen is not None and chosen.id == client.id,
        installation_has_one=provider_clients.choose(reader, "", client.app) is not None,
    )
