"""Where the provider of an OAuth client tells its events, the secret that signs them, and what is still missing."""

from typing import TYPE_CHECKING, Any

from webapp.kit.clock import iso
from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import WHOLE_INSTALLATION, SealedColumn, Service
from webapp.store.contract import Tx

if TYPE_CHECKING:
    from webapp.service.domain.accounts.provider_clients import ProviderClient

SEALED = SealedColumn("provider_clients", "events_sealed", owner=WHOLE_INSTALLATION)


def of(service: Service, client: "ProviderClient") -> dict[str, Any] | None:
    """What its owner needs to know; None where the app tells no events to its clients."""
    app = service.catalog.app(client.app)
    events = app.spec.told if app and app.oauth else None
    if events is None:
        return None
    return {
        "uri": address(service, client.app, client.id),
        "address_name": events.address_name,
        "secret_name": events.secret_name,
        "has_secret": client.events_sealed is not None,
        "brings_secret": events.brings_secret,
        "secret_sent_at": _secret_sent_at(service, client),
    }


def _secret_sent_at(service: Service, client: "ProviderClient") -> str | None:
    """When the provider sent the secret that waits for the client's owner, as ISO 8601; None where none does."""
    sql = "SELECT received_at AS at FROM event_handshakes WHERE oauth_app_id = :id"
    row = service.store.one(sql, {"id": client.id})
    return iso(row["at"]) if row else None


def address(service: Service, slug: str, oauth_app_id: str) -> str:
    """The one address to which the provider of the app ``slug`` tells the events of a client."""
    return f"{service.settings.public_url}/h/app/{slug}/{oauth_app_id}"


def secret(service: Service, client: "ProviderClient") -> str | None:
    """The secret that signs the events, opened; None where nobody entered one."""
    if client.events_sealed is None:
        return None
    return SEALED.open(service, client.project_id or INSTANCE, client.id, client.events_sealed).decode()


def seal(service: Service, tx: Tx, project_id: str | None, oauth_app_id: str, plain: str) -> bytes:
    """``plain`` for the row of a client, in the transaction that writes it."""
    return SEALED.seal(service, tx, project_id or INSTANCE, oauth_app_id, plain.encode())
