"""The secrets that sign the events which a provider sends to an OAuth app, and the address that it sends them to.

An owner enters the secret, which is sealed with the OAuth app. Some providers generate it and send it unsigned, in the
request by which they verify the address. Anybody could send such a request, so a secret signs nothing until the owner
accepts it, compares it with the provider's and enters it there. Until then it waits in the table ``event_handshakes``,
which this module owns; a newer one replaces it.
"""

import hmac
import re
from typing import Any

from webapp.errors import Conflict, Invalid
from webapp.kit.clock import iso
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import Topic
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import WHOLE_INSTALLATION, SealedColumn, Service

SEALED = SealedColumn("event_handshakes", "secret_sealed", key="oauth_app_id", owner=WHOLE_INSTALLATION)


def facts_of(service: Service, client: OAuthApp) -> dict[str, Any] | None:
    """The facts that its owner needs to receive events; None if the app sends none to its clients."""
    app = service.catalog.app(client.app)
    events = app.spec.client_webhook if app and app.oauth else None
    if events is None:
        return None
    return {
        "uri": address_of(service, client.app, client.id),
        "address_name": events.address_name,
        "secret_name": events.secret_name,
        "has_secret": client.events_sealed is not None,
        "brings_secret": events.brings_secret,
        "takes_topic": isinstance(events, Topic),
        "secret_sent_at": _secret_sent_at(service, client),
    }


def _secret_sent_at(service: Service, client: OAuthApp) -> str | None:
    """When the provider sent the secret that waits for the client's owner, as ISO 8601; None where none does."""
    sql = "SELECT received_at AS at FROM event_handshakes WHERE oauth_app_id = :id"
    row = service.store.one(sql, {"id": client.id})
    return iso(row["at"]) if row else None


def check(app: App, entered: str) -> None:
    """Raise :class:`Invalid` where the clients of ``app`` take no secret for events, or no such topic in its place."""
    webhook = app.spec.client_webhook
    if webhook is None:
        raise Invalid.of("events_secret", f"{app.name} has no events that come to its OAuth client.")
    if isinstance(webhook, Topic) and not re.fullmatch(webhook.pattern, entered):
        raise Invalid.of("events_secret", webhook.advice)


def address_of(service: Service, slug: str, oauth_app_id: str) -> str:
    """The address to which the provider of the app ``slug`` sends the events of a client."""
    return f"{service.settings.public_url}/h/app/{slug}/{oauth_app_id}"


def of(service: Service, client: OAuthApp) -> str | None:
    """The secret that signs the events, in plain text; None if none was entered."""
    if client.events_sealed is None:
        return None
    return oauth_apps.EVENTS_SEALED.open(
        service, client.project_id or INSTANCE, client.id, client.events_sealed
    ).decode()


def is_usable(secret: str) -> bool:
    """Whether ``secret`` may wait: of plain characters, so that it can be read and pasted, and not too long."""
    return 0 < len(secret) <= oauth_apps.MAX_SECRET and secret.isascii() and secret.isprintable()


def keep_handshake(service: Service, client: OAuthApp, secret: str) -> None:
    """Keep ``secret`` for the client's owner to accept, unless it is the one in use."""
    known = of(service, client)
    if known is not None and hmac.compare_digest(known.encode(), secret.encode()):
        return
    with service.store.write() as tx:
        tx.run(
            "INSERT INTO event_handshakes (oauth_app_id, project_id, secret_sealed, received_at) "
            "VALUES (:id, :project, :sealed, :now) ON CONFLICT (oauth_app_id) DO UPDATE "
            "SET secret_sealed = excluded.secret_sealed, received_at = excluded.received_at",
            {
                "id": client.id,
                "project": client.project_id,
                "sealed": SEALED.seal(service, tx, client.project_id or INSTANCE, client.id, secret.encode()),
                "now": service.clock(),
            },
        )


def take_handshake(service: Service, client: OAuthApp) -> str:
    """Accept the waiting secret as the one that signs events, and return it for the owner to enter at the provider.

    Raises :class:`Conflict` if none waits.
    """
    row = service.store.one("SELECT secret_sealed FROM event_handshakes WHERE oauth_app_id = :id", {"id": client.id})
    if row is None:
        raise Conflict("The provider has sent nothing yet. Enter the address there first, then try again.")
    secret = SEALED.open(service, client.project_id or INSTANCE, client.id, row["secret_sealed"]).decode()
    with service.store.write() as tx:
        oauth_apps.accept_events_secret(service, tx, client, secret)
        tx.run(
            "DELETE FROM event_handshakes WHERE oauth_app_id = :id AND secret_sealed = :sealed",
            {"id": client.id, "sealed": row["secret_sealed"]},
        )
    return secret
