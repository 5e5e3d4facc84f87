"""OAuth apps: clients registered at providers (table ``provider_clients``), of a project, the installation or a
person.

A project's own OAuth app is "the developer's own": credentials of accounts that use it may be handed out. Those of the
installation, which its operator added, are not. Nor are those that an external user entered in the Connect Link: they
serve only that user's accounts, are not listed, and are deleted when no account uses them. Several apps of one provider
may share a registration: each has a row of its own, and one of them has the secret.

What signs the events that a provider sends to a client is left to :mod:`.events_secrets`, where people return after a
sign-in to :mod:`.redirect_uris`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from webapp import audit
from webapp.errors import Conflict, NotFound
from webapp.kit import cursors
from webapp.kit.clock import DAY
from webapp.kit.crypto import new_id
from webapp.service.domain.accounts import accounts, redirect_uris
from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import WHOLE_INSTALLATION, SealedColumn, Service
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

SANDBOX_ID = "oa_sandbox"
MAX_SECRET = 4_000
"""Characters of a client's secret, and of one that signs its events."""
EVENTS_SEALED = SealedColumn("provider_clients", "events_sealed", owner=WHOLE_INSTALLATION)


@dataclass(frozen=True, slots=True)
class OAuthApp:
    """An OAuth client at a provider; ``project_id`` is None for the installation's.

    ``external_user_id`` is the person who entered it; ``callback`` identifies the authorization server in its redirect
    URI. ``shares`` is the client whose id and secret it uses, which shares none itself. ``registered_issuer`` is where
    it registered itself, with the redirect URI ``registered_uri``; None for a client that somebody made.
    """

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
    external_user_id: str | None = None
    callback: str = ""
    shares: str | None = None
    events_sealed: bytes | None = None
    registered_issuer: str | None = None
    registered_uri: str = ""

    @property
    def holder(self) -> str:
        """The id of the client that holds the secret: itself, or the one it shares."""
        return self.shares or self.id

    def developers_own(self, project_id: str) -> bool:
        """Whether the developer of the project registered it there."""
        return self.project_id == project_id and self.external_user_id is None


SEALED = SealedColumn("provider_clients", "secret_sealed", owner=WHOLE_INSTALLATION)
_CLIENTS = Table("provider_clients", OAuthApp)


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
    external_user_id: str | None = None,
    events_secret: str | None = None,
    registered_issuer: str | None = None,
    callback: str | None = None,
) -> OAuthApp:
    """Register a client for the app with slug ``app``. The secret is sealed and never shown again.

    ``additional_scopes`` are asked for too, but a person may leave them out. A client that registered itself at
    ``registered_issuer`` has the ``callback`` with which it did so.
    """
    oauth_app_id, now = new_id("oa"), service.clock()
    callback = redirect_uris.callback_of(service, app) if callback is None else callback
    with service.store.write() as tx:
        sealed = _seal(service, tx, project_id, oauth_app_id, client_secret) if client_secret else None
        events = _seal_events_secret(service, tx, project_id, oauth_app_id, events_secret) if events_secret else None
        facts = name or app, description, tuple(scopes), tuple(additional_scopes), now, now
        client = OAuthApp(
            oauth_app_id,
            project_id,
            app,
            client_id,
            sealed,
            *facts,
            external_user_id,
            callback,
            events_sealed=events,
            registered_issuer=registered_issuer,
            registered_uri=redirect_uris.of(service, callback) if registered_issuer else "",
        )
        _CLIENTS.insert(tx, client)
        _note(tx, now, client, "created", f"Added an OAuth client for {app}.")
    return client


def get(reader: Reader, oauth_app_id: str) -> OAuthApp:
    """The client ``oauth_app_id`` of an account or attempt.

    Raises :class:`NotFound`.
    """
    client = _CLIENTS.get(reader, oauth_app_id)
    if client is None:
        raise NotFound("There is no such OAuth client.")
    return client


def choose(
    reader: Reader, project_id: str, app: str, oauth_app_id: str | None = None, *, user_id: str | None = None
) -> OAuthApp | None:
    """The client for a connection of ``app``: the one requested, else the project's newest, else the installation's.

    Raises :class:`NotFound` if the one requested does not exist, is for another app or of another project, or was
    entered by another external user than ``user_id``.
    """
    if oauth_app_id is not None:
        client = get(reader, oauth_app_id)
        if client.app != app or client.project_id not in (None, project_id) or not _serves(client, user_id):
            raise NotFound("There is no such OAuth client.")
        return client
    return _CLIENTS.one(
        reader,
        "app = :app AND (project_id = :project OR project_id IS NULL) AND external_user_id IS NULL "
        "ORDER BY CASE WHEN project_id IS NULL THEN 1 ELSE 0 END, created_at DESC, id LIMIT 1",
        {"app": app, "project": project_id},
    )


def of_client_id(reader: Reader, project_id: str, app: str, client_id: str) -> OAuthApp | None:
    """The client for connections of ``app`` in the project that its provider knows as ``client_id``: the project's
    own, else the installation's."""
    return _CLIENTS.one(
        reader,
        "app = :app AND client_id = :client_id AND (project_id = :project OR project_id IS NULL) "
        "AND external_user_id IS NULL "
        "ORDER BY CASE WHEN project_id IS NULL THEN 1 ELSE 0 END, created_at DESC, id LIMIT 1",
        {"app": app, "client_id": client_id, "project": project_id},
    )


def share(service: Service, client: OAuthApp, app: str) -> OAuthApp:
    """Let the app with slug ``app`` use what ``client`` is at their provider.

    Raises :class:`Conflict` where one of those that share it serves that app already.
    """
    oauth_app_id, now = new_id("oa"), service.clock()
    with service.store.write() as tx:
        if any(other.app == app for other in sharing(tx, client)):
            raise Conflict("That app uses this OAuth client already.")
        shared = OAuthApp(
            oauth_app_id, client.project_id, app, client.client_id, None, app, "", (), (), now, now,
            callback=client.callback, shares=client.holder,
        )  # fmt: skip
        _CLIENTS.insert(tx, shared)
        _note(tx, now, shared, "created", f"Let {app} use the OAuth client for {client.app}.")
    return shared


def family(service: Service, slug: str) -> list[str]:
    """The slugs of the other apps that a client for the app ``slug`` serves too, for they are one provider's."""
    app = service.catalog.app(slug)
    oauth = app.by_sign_in.oauth if app else None
    name = oauth.family if oauth else None
    return [other for other in service.catalog.family(name) if other != slug] if name else []


def sharing(reader: Reader, client: OAuthApp) -> list[OAuthApp]:
    """All clients that are the same one at their provider, ``client`` among them, oldest first."""
    return _CLIENTS.all(reader, "id = :holder OR shares = :holder ORDER BY created_at, id", {"holder": client.holder})


def update(
    service: Service, client: OAuthApp, *, client_secret: str | None = None, events_secret: str | None = None
) -> OAuthApp:
    """Write ``client``, and another secret if given, for all clients that share it.

    Raises :class:`Conflict` for another client id while accounts use this one, :class:`NotFound`.
    """
    with service.store.write() as tx:
        before = get(tx, client.id)
        same = sharing(tx, before)
        used = sum(accounts.count_of_oauth_app(tx, other.id) for other in same)
        if before.client_id != client.client_id and used:
            raise Conflict(f"{_counted(used)} connected with this client id; add another OAuth client instead.")
        now = service.clock()
        if client_secret:
            sealed = _seal(service, tx, client.project_id, before.holder, client_secret)
            _CLIENTS.update(tx, before.holder, secret_sealed=sealed)
        if events_secret:
            box = _seal_events_secret(service, tx, client.project_id, client.id, events_secret)
            _CLIENTS.update(tx, client.id, events_sealed=box)
        for other in same:
            _CLIENTS.update(tx, other.id, client_id=client.client_id, updated_at=now)
        _CLIENTS.update(
            tx,
            client.id,
            name=client.name,
            description=client.description,
            scopes=client.scopes,
            additional_scopes=client.additional_scopes,
        )
        secret_too = " and its secret" if client_secret else ""
        _note(tx, now, client, "updated", f"Changed the OAuth client for {client.app}{secret_too}.")
        return get(tx, client.id)


def accept_events_secret(service: Service, tx: Tx, client: OAuthApp, sent: str) -> None:
    """Let ``sent``, which the provider of ``client`` generated, sign its events."""
    now = service.clock()
    sealed = _seal_events_secret(service, tx, client.project_id, client.id, sent)
    _CLIENTS.update(tx, client.id, events_sealed=sealed, updated_at=now)
    _note(tx, now, client, "updated", f"Accepted the secret that {client.app} sent for its events.")


def remove(service: Service, client: OAuthApp) -> None:
    """Delete ``client``; clients that share it stay.

    Raises :class:`Conflict` while accounts that were connected with it exist, since their tokens could not be
    refreshed, or while an app override names it.
    """
    with service.store.write() as tx:
        if used := accounts.count_of_oauth_app(tx, client.id):
            raise Conflict(f"{_counted(used)} connected with this OAuth client; disconnect what uses it first.")
        if tx.one("SELECT 1 FROM app_overrides WHERE oauth_app_id = :id LIMIT 1", {"id": client.id}):
            raise Conflict("An app override uses this OAuth client; change or delete the override first.")
        _note(tx, service.clock(), client, "deleted", f"Removed the OAuth client for {client.app}.")
        _hand_on(service, tx, client)
        _CLIENTS.delete(tx, client.id)


def _hand_on(service: Service, tx: Tx, client: OAuthApp) -> None:
    """Make the oldest of those that share the secret of ``client`` the one that holds it."""
    heirs = [other for other in sharing(tx, client) if other.shares == client.id]
    if not heirs:
        return
    first, plain = heirs[0], secret(service, client)
    sealed = _seal(service, tx, client.project_id, first.id, plain) if plain else None
    tx.run("UPDATE provider_clients SET shares = :first WHERE shares = :id", {"first": first.id, "id": client.id})
    _CLIENTS.update(tx, first.id, shares=None, secret_sealed=sealed)


def self_registered(reader: Reader, app: str) -> list[OAuthApp]:
    """The clients of the app with slug ``app`` that registered themselves, newest first."""
    return _CLIENTS.all(
        reader, "app = :app AND registered_issuer IS NOT NULL ORDER BY created_at DESC, id", {"app": app}
    )


def purge(service: Service) -> int:
    """Delete clients that no account uses and that people entered, or that registered themselves and were replaced by a
    newer one, more than a day ago; return their number."""
    with service.store.write() as tx:
        return tx.run(
            "DELETE FROM provider_clients WHERE (external_user_id IS NOT NULL AND created_at < :limit "
            "OR registered_issuer IS NOT NULL AND EXISTS (SELECT 1 FROM provider_clients newer "
            "WHERE newer.app = provider_clients.app AND newer.registered_issuer IS NOT NULL "
            "AND newer.created_at > provider_clients.created_at AND newer.created_at < :limit)) "
            "AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.oauth_app_id = provider_clients.id) "
            "AND NOT EXISTS (SELECT 1 FROM app_overrides WHERE app_overrides.oauth_app_id = provider_clients.id)",
            {"limit": service.clock() - DAY},
        )


def secret(service: Service, client: OAuthApp) -> str | None:
    """The client's secret, opened; None for a public client."""
    if client.shares is not None:
        return secret(service, get(service.store, client.shares))
    if client.secret_sealed is None:
        return None
    return SEALED.open(service, client.project_id or INSTANCE, client.id, client.secret_sealed).decode()


def ensure_sandbox(service: Service) -> tuple[str, str]:
    """The installation's client at the built-in third party, made once; its id and its secret."""
    client_id, client_secret = "patchbay", service.keys.derive("sandbox-client").hex()
    now = service.clock()
    with service.store.write() as tx:
        sealed = _seal(service, tx, None, SANDBOX_ID, client_secret)
        client = OAuthApp(SANDBOX_ID, None, "sandbox", client_id, sealed, "Sandbox", "", (), (), now, now)
        _CLIENTS.upsert(tx, client, keep=[name for name in _CLIENTS.columns.split(", ") if name != "secret_sealed"])
    return client_id, client_secret


def _serves(client: OAuthApp, user_id: str | None) -> bool:
    return client.external_user_id in (None, user_id)


def _note(tx: Tx, at: int, client: OAuthApp, verb: str, sentence: str) -> None:
    audit.write(tx, at, "oauth_app", client.id, verb, sentence, project=client.project_id)


def _counted(accounts: int) -> str:
    return "One account was" if accounts == 1 else f"{accounts:,} accounts were"


def _seal(service: Service, tx: Tx, project_id: str | None, oauth_app_id: str, client_secret: str) -> bytes:
    return SEALED.seal(service, tx, project_id or INSTANCE, oauth_app_id, client_secret.encode())


def _seal_events_secret(service: Service, tx: Tx, project_id: str | None, oauth_app_id: str, plain: str) -> bytes:
    """``plain`` for the row of a client, in the transaction that writes it."""
    return EVENTS_SEALED.seal(service, tx, project_id or INSTANCE, oauth_app_id, plain.encode())


@dataclass(frozen=True, slots=True)
class OAuthAppFilter:
    """The filters of a list of a project's clients: a slug, and text in the name, slug or id."""

    app: str | None = None
    q: str | None = None


def own(reader: Reader, project_id: str, oauth_app_id: str) -> OAuthApp:
    """The client ``oauth_app_id`` that ``project_id`` registered itself. Raises :class:`NotFound`."""
    client = get(reader, oauth_app_id)
    if not client.developers_own(project_id):
        raise NotFound("There is no such OAuth client.")
    return client


def page(reader: Reader, project_id: str, filters: OAuthAppFilter, window: cursors.Window) -> cursors.Page[OAuthApp]:
    """The project's own clients, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = "project_id = :project AND external_user_id IS NULL", dict[str, Any](project=project_id)
    if filters.app is not None:
        where, params["app"] = f"{where} AND app = :app", filters.app
    if filters.q:
        where += " AND (holds(name, :q) OR holds(app, :q) OR holds(client_id, :q))"
        params["q"] = filters.q
    return _CLIENTS.page(reader, window, where, params)


def list_all(reader: Reader) -> list[OAuthApp]:
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
class OAuthAppUse:
    """The uses of a client: the number of accounts that were connected with it, the slugs of apps that share it,
    whether new accounts of its app use it, and whether the installation has another client for that app.
    """

    accounts: int
    shared_with: tuple[str, ...]
    used_for_new: bool
    installation_has_one: bool


def use_of(reader: Reader, client: OAuthApp) -> OAuthAppUse:
    """What ``client`` serves."""
    chosen = choose(reader, client.project_id or "", client.app)
    others = sharing(reader, client)
    return OAuthAppUse(
        accounts=accounts.count_of_oauth_app(reader, client.id),
        shared_with=tuple(other.app for other in others if other.id != client.id),
        used_for_new=chosen is not None and chosen.id == client.id,
        installation_has_one=choose(reader, "", client.app) is not None,
    )
