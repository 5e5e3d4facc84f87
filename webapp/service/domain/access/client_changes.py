"""What happens to OAuth clients once they are there: another secret, with or without an overlap, and their deletion.

With an overlap the secret before works on beside the new one, until a time that is said at once or until somebody ends
it; the access tokens that were issued for it end with it. The client for scripts, which ``patchbay init`` prints,
derives its secret from the instance key, so that it can be printed again.
"""

import base64
from dataclasses import replace
from datetime import UTC, datetime

from webapp.kit.clock import DAY, SECOND
from webapp.kit.crypto import hash_token, random_base62
from webapp.service.domain.access import clients, tokens
from webapp.service.domain.access.clients import Client
from webapp.service.domain.base import scopes
from webapp.service.domain.base.keyring import Keyring
from webapp.service.domain.base.service import Service
from webapp.store.contract import Tx

OVERLAP_S = DAY // SECOND
MAX_OVERLAP_S = 30 * DAY // SECOND


def scripted(service: Service) -> tuple[Client, str]:
    """The client that scripts use, and its secret: made by the first call, the same afterwards."""
    client = next(iter(clients.of_scripts(service.store)), None)
    if client is not None:
        return client, _derived_secret(service.keys, client.id, client.created_at, client.rotated_at)
    now, client_id = service.clock(), random_base62(24)
    secret = _derived_secret(service.keys, client_id, now, now)
    client = Client(client_id, None, "Scripts", scopes.ALL, hash_token(secret), "init", now, now)
    with service.store.write() as tx:
        clients.insert(tx, client)
    return client, secret


def rotate(service: Service, client_id: str, overlap_s: int = 0) -> tuple[Client, str]:
    """Give a client a new secret. The one before and its tokens work ``overlap_s`` seconds longer; earlier ones end.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client = clients.get(tx, client_id)
        now = max(service.clock(), client.rotated_at + 1)
        scripted = client.origin == "init"
        secret = _derived_secret(service.keys, client.id, client.created_at, now) if scripted else random_base62(43)
        rotated = replace(client, secret_hash=hash_token(secret), rotated_at=now)
        rotated = _with_old_secret(rotated, client.secret_hash, overlap_s)
        _write(tx, rotated)
        until = _until(rotated.old_secret_ends_at)
        clients.note(tx, now, client, "rotated", f"has a new secret; the old one and its tokens {until}")
    return rotated, secret


def end_old_secret(service: Service, client_id: str) -> None:
    """End the secret before the present one, and its tokens, if it still works.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client, now = clients.get(tx, client_id), service.clock()
        if client.old_secret_works(now):
            _write(tx, _with_old_secret(client, "", 0))
            clients.note(tx, now, client, "old_secret_ended", "has one secret again; the old one and its tokens ended")


def forget_old_secrets(service: Service) -> int:
    """Forget the secrets whose overlap is over, so that a clock set back revives none; how many there were."""
    if not clients.past_overlap(service.store, service.clock()):
        return 0
    with service.store.write() as tx:
        ended = clients.past_overlap(tx, service.clock())
        for client in ended:
            _write(tx, _with_old_secret(client, "", 0))
    return len(ended)


def delete(service: Service, client_id: str) -> None:
    """Remove a client. Its access tokens and the Connect tokens that it asked for end at once.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        client = clients.get(tx, client_id)
        tokens.revoke_all(tx, client_id=client.id)
        clients.remove(tx, client.id)
        clients.note(tx, service.clock(), client, "deleted", "was deleted; its tokens ended")


def derive_again(tx: Tx, keys: Keyring) -> None:
    """Give the clients of scripts the secrets that follow from another instance key."""
    for client in clients.of_scripts(tx):
        secret = _derived_secret(keys, client.id, client.created_at, client.rotated_at)
        clients.change(tx, client.id, secret_hash=hash_token(secret))


def _derived_secret(keys: Keyring, client_id: str, created_at: int, rotated_at: int) -> str:
    purpose = f"scripted-client|{client_id}|{created_at}|{rotated_at}"
    return base64.urlsafe_b64encode(keys.derive(purpose)).rstrip(b"=").decode()


def _with_old_secret(client: Client, secret_hash: str, overlap_s: int) -> Client:
    """The client with the secret before this one, for ``overlap_s`` seconds from its rotation; without, for none."""
    overlaps = bool(overlap_s and secret_hash)
    ends_at = client.rotated_at + overlap_s * SECOND if overlaps else None
    return replace(client, old_secret_hash=secret_hash if overlaps else "", old_secret_ends_at=ends_at)


def _write(tx: Tx, client: Client) -> None:
    clients.change(
        tx,
        client.id,
        secret_hash=client.secret_hash,
        rotated_at=client.rotated_at,
        old_secret_hash=client.old_secret_hash,
        old_secret_ends_at=client.old_secret_ends_at,
    )


def _until(ends_at: int | None) -> str:
    """Until when the old secret works, in words for the audit."""
    if ends_at is None:
        return "ended"
    return f"end on {datetime.fromtimestamp(ends_at / SECOND, UTC):%Y-%m-%d at %H:%M} UTC"
