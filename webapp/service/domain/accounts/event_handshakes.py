"""Secrets that a provider tells to the address for the events of an OAuth client (table ``event_handshakes``).

Some make the secret themselves and send it unsigned, in the request by which they try the address. Anybody could send
such a request, so that a secret signs nothing before the client's owner takes it: whoever takes one sees it, and enters
it at the provider, which knows it only where it is its own. A newer one replaces one that waits.
"""

import hmac

from webapp import audit
from webapp.errors import Conflict
from webapp.service.domain.accounts import client_events, provider_clients
from webapp.service.domain.accounts.provider_clients import ProviderClient
from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import WHOLE_INSTALLATION, SealedColumn, Service

SEALED = SealedColumn("event_handshakes", "secret_sealed", key="oauth_app_id", owner=WHOLE_INSTALLATION)
LONGEST = 4_000


def is_usable(secret: str) -> bool:
    """Whether ``secret`` may wait: of plain characters, so that it can be read and pasted, and not too long."""
    return 0 < len(secret) <= LONGEST and secret.isascii() and secret.isprintable()


def keep(service: Service, client: ProviderClient, secret: str) -> None:
    """Let ``secret`` wait for the client's owner, but where it is the one that signs already."""
    known = client_events.secret(service, client)
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


def take(service: Service, client: ProviderClient) -> str:
    """Let the secret that waits sign the events from now on, and give it to the client's owner, who enters it at the
    provider. Raises :class:`Conflict` where none waits."""
    row = service.store.one("SELECT secret_sealed FROM event_handshakes WHERE oauth_app_id = :id", {"id": client.id})
    if row is None:
        raise Conflict("The provider has sent nothing yet. Enter the address there first, then try again.")
    secret = SEALED.open(service, client.project_id or INSTANCE, client.id, row["secret_sealed"]).decode()
    provider_clients.update(service, client, events_secret=secret)
    with service.store.write() as tx:
        tx.run(
            "DELETE FROM event_handshakes WHERE oauth_app_id = :id AND secret_sealed = :sealed",
            {"id": client.id, "sealed": row["secret_sealed"]},
        )
        sentence = f"Took the secret that {client.app} sent for its events."
        audit.write(tx, service.clock(), "oauth_app", client.id, "updated", sentence, project=client.project_id)
    return secret
