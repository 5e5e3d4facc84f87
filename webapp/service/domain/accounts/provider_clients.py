"""OAuth clients at providers (table ``provider_clients``): a project's own, the whole installation's, or a person's.

A project's own client is "the developer's own": credentials of accounts made with it may be handed out. A client
of the installation was added by its operator and never is. Nor is one that an external user brought to the Connect
Link: it serves that user's accounts alone, is listed nowhere, and goes once no account uses it.

Several apps of one provider may share what it registered once: each has a row of its own, and one of them holds the
secret. Which clients there are is :mod:`project_clients`'s to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from webapp import audit
from webapp.errors import Conflict, NotFound
from webapp.kit.clock import DAY
from webapp.kit.crypto import new_id
from webapp.service.domain.accounts import client_events
from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import WHOLE_INSTALLATION, SealedColumn, Service
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

SANDBOX_ID = "oa_sandbox"


@dataclass(frozen=True, slots=True)
class ProviderClient:
    """An OAuth client at a provider; ``project_id`` is None for the whole installation. ``external_user_id`` is whose
    own it is, where a person brought it; ``callback`` names the authorization server in its redirect URI. ``shares`` is
    the client whose id and secret it uses, which is never one that shares itself."""

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

    @property
    def holder(self) -> str:
        """The id of the client that holds the secret: itself, or the one it shares."""
        return self.shares or self.id

    def developers_own(self, project_id: str) -> bool:
        """Whether the developer of the project registered it there."""
        return self.project_id == project_id and self.external_user_id is None


SEALED = SealedColumn("provider_clients", "secret_sealed", owner=WHOLE_INSTALLATION)
_CLIENTS = Table("provider_clients", ProviderClient)


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
) -> ProviderClient:
    """Register a client for the app with slug ``app``. The secret is sealed and never shown again.

    ``additional_scopes`` are asked for too, but a person may leave them out.
    """
    oauth_app_id, now = new_id("oa"), service.clock()
    with service.store.write() as tx:
        sealed = _seal(service, tx, project_id, oauth_app_id, client_secret) if client_secret else None
        events = client_events.seal(service, tx, project_id, oauth_app_id, events_secret) if events_secret else None
        facts = name or app, description, tuple(scopes), tuple(additional_scopes), now, now
        client = ProviderClient(
            oauth_app_id,
            project_id,
            app,
            client_id,
            sealed,
            *facts,
            external_user_id,
            _callback(service, app),
            events_sealed=events,
        )
        _CLIENTS.insert(tx, client)
        _note(tx, now, client, "created", f"Added an OAuth client for {app}.")
    return client


def redirect_uri(service: Service, client: ProviderClient) -> str:
    """The redirect URI of ``client``, exactly as it is registered with its provider (RFC 9700 section 2.1)."""
    return _redirect_uri(service, client.callback)


def new_redirect_uri(service: Service, app: str) -> str:
    """The redirect URI to register for a client of the app with slug ``app`` that is added now."""
    return _redirect_uri(service, _callback(service, app))


def _redirect_uri(service: Service, callback: str) -> str:
    return "/".join(part for part in (f"{service.settings.public_url}/connect/oauth/callback", callback) if part)


def _callback(service: Service, slug: str) -> str:
    """What tells an authorization server from the others in redirect URIs, so that no answer of one passes for that of
    another (RFC 9700 section 4.4.2): nothing where its answers name it, else its issuer's host, family or app."""
    app = service.catalog.app(slug)
    if app is None or app.oauth is None or app.oauth.iss_required:
        return ""
    return urlsplit(app.oauth.issuer or "").hostname or app.oauth.family or slug


def get(reader: Reader, oauth_app_id: str) -> ProviderClient:
    """The client ``oauth_app_id``, for those who already hold it through an account or attempt.

    Raises :class:`NotFound`.
    """
    client = _CLIENTS.get(reader, oauth_app_id)
    if client is None:
        raise NotFound("There is no such OAuth client.")
    return client


def choose(
    reader: Reader, project_id: str, app: str, oauth_app_id: str | None = None, *, user_id: str | None = None
) -> ProviderClient | None:
    """The client a connection of ``app`` uses: the one asked for, else the project's newest, else the installation's.

    Raises :class:`NotFound` when the one asked for is not there, for another app, another project's, or brought by
    another than the external user ``user_id``.
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


def share(service: Service, client: ProviderClient, app: str) -> ProviderClient:
    """Let the app with slug ``app`` use what ``client`` is at their provider.

    Raises :class:`Conflict` where one of those that share it serves that app already.
    """
    oauth_app_id, now = new_id("oa"), service.clock()
    with service.store.write() as tx:
        if any(other.app == app for other in sharing(tx, client)):
            raise Conflict("That app uses this OAuth client already.")
        shared = ProviderClient(
            oauth_app_id, client.project_id, app, client.client_id, None, app, "", (), (), now, now,
            callback=client.callback, shares=client.holder,
        )  # fmt: skip
        _CLIENTS.insert(tx, shared)
        _note(tx, now, shared, "created", f"Let {app} use the OAuth client for {client.app}.")
    return shared


def family(service: Service, slug: str) -> list[str]:
    """The slugs of the other apps that a client for the app ``slug`` serves too, for they are one provider's."""
    app = service.catalog.app(slug)
    name = app.oauth.family if app and app.oauth else None
    return [other for other in service.catalog.family(name) if other != slug] if name else []


def sharing(reader: Reader, client: ProviderClient) -> list[ProviderClient]:
    """All clients that are the same one at their provider, ``client`` among them, oldest first."""
    return _CLIENTS.all(reader, "id = :holder OR shares = :holder ORDER BY created_at, id", {"holder": client.holder})


def update(
    service: Service, client: ProviderClient, *, client_secret: str | None = None, events_secret: str | None = None
) -> ProviderClient:
    """Write ``client`` as it stands now, and another secret where one is given; both are those of all that share it.

    Raises :class:`Conflict` for another client id while accounts live by this one, :class:`NotFound`.
    """
    with service.store.write() as tx:
        before = get(tx, client.id)
        same = sharing(tx, before)
        used = sum(accounts_of(tx, other.id) for other in same)
        if before.client_id != client.client_id and used:
            raise Conflict(f"{_counted(used)} connected with this client id; add another OAuth client instead.")
        now = service.clock()
        if client_secret:
            sealed = _seal(service, tx, client.project_id, before.holder, client_secret)
            _CLIENTS.update(tx, before.holder, secret_sealed=sealed)
        if events_secret:
            box = client_events.seal(service, tx, client.project_id, client.id, events_secret)
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


def remove(service: Service, client: ProviderClient) -> None:
    """Delete ``client``; others that share it go on.

    Raises :class:`Conflict` while accounts were connected with it, whose tokens could not be refreshed any more, or
    while an app override names it.
    """
    with service.store.write() as tx:
        if used := accounts_of(tx, client.id):
            raise Conflict(f"{_counted(used)} connected with this OAuth client; disconnect what uses it first.")
        if tx.one("SELECT 1 FROM app_overrides WHERE oauth_app_id = :id LIMIT 1", {"id": client.id}):
            raise Conflict("An app override uses this OAuth client; change or delete the override first.")
        _note(tx, service.clock(), client, "deleted", f"Removed the OAuth client for {client.app}.")
        _hand_on(service, tx, client)
        _CLIENTS.delete(tx, client.id)


def _hand_on(service: Service, tx: Tx, client: ProviderClient) -> None:
    """Make the oldest of those that share the secret of ``client`` the one that holds it."""
    heirs = [other for other in sharing(tx, client) if other.shares == client.id]
    if not heirs:
        return
    first, plain = heirs[0], secret(service, client)
    sealed = _seal(service, tx, client.project_id, first.id, plain) if plain else None
    tx.run("UPDATE provider_clients SET shares = :first WHERE shares = :id", {"first": first.id, "id": client.id})
    _CLIENTS.update(tx, first.id, shares=None, secret_sealed=sealed)


def accounts_of(reader: Reader, oauth_app_id: str) -> int:
    """How many accounts were connected with a client."""
    row = reader.one("SELECT COUNT(*) AS n FROM accounts WHERE oauth_app_id = :id", {"id": oauth_app_id})
    return int(row["n"]) if row else 0


def purge(service: Service) -> int:
    """Forget what people brought more than a day ago and no account uses; how many there were."""
    with service.store.write() as tx:
        return tx.run(
            "DELETE FROM provider_clients WHERE external_user_id IS NOT NULL AND created_at < :limit "
            "AND NOT EXISTS (SELECT 1 FROM accounts WHERE accounts.oauth_app_id = provider_clients.id)",
            {"limit": service.clock() - DAY},
        )


def secret(service: Service, client: ProviderClient) -> str | None:
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
        client = ProviderClient(SANDBOX_ID, None, "sandbox", client_id, sealed, "Sandbox", "", (), (), now, now)
        _CLIENTS.upsert(tx, client, keep=[name for name in _CLIENTS.columns.split(", ") if name != "secret_sealed"])
    return client_id, client_secret


def _serves(client: ProviderClient, user_id: str | None) -> bool:
    return client.external_user_id in (None, user_id)


def _note(tx: Tx, at: int, client: ProviderClient, verb: str, sentence: str) -> None:
    audit.write(tx, at, "oauth_app", client.id, verb, sentence, project=client.project_id)


def _counted(accounts: int) -> str:
    return "One account was" if accounts == 1 else f"{accounts:,} accounts were"


def _seal(service: Service, tx: Tx, project_id: str | None, oauth_app_id: str, client_secret: str) -> bytes:
    return SEALED.seal(service, tx, project_id or INSTANCE, oauth_app_id, client_secret.encode())
