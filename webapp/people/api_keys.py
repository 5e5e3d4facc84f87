"""Users' API keys, at most one each, for the few API operations that accept one. This module owns ``user_api_keys``.

A key is stored as its SHA-256 and shown only when it is created. Creating another revokes it (contract "API keys").
"""

import secrets

from webapp import audit
from webapp.kit.clock import Clock
from webapp.kit.crypto import hash_token
from webapp.store.contract import Reader, Store, Tx

PREFIX = "pbk_"


def create(store: Store, clock: Clock, user_id: str) -> str:
    """Create a user's API key, which replaces any earlier one, and return it. Only its hash is stored."""
    key = PREFIX + secrets.token_urlsafe(32)
    with store.write() as tx:
        tx.run(
            "INSERT INTO user_api_keys (user_id, key_hash, created_at) VALUES (:user, :hash, :now)"
            " ON CONFLICT (user_id) DO UPDATE SET key_hash = excluded.key_hash, created_at = excluded.created_at",
            {"user": user_id, "hash": hash_token(key), "now": clock()},
        )
        audit.write(tx, clock(), "key", user_id, "created", "Gave a person an API key; any before it ended.")
    return key


def revoke(tx: Tx, now: int, user_id: str) -> None:
    """Delete a user's key, if there is one."""
    if tx.run("DELETE FROM user_api_keys WHERE user_id = :user", {"user": user_id}):
        audit.write(tx, now, "key", user_id, "ended", "Ended a person's API key.")


def owner_id(reader: Reader, key: str) -> str | None:
    """The id of the user whose key this is, or None."""
    if not key.startswith(PREFIX):
        return None
    row = reader.one("SELECT user_id FROM user_api_keys WHERE key_hash = :hash", {"hash": hash_token(key)})
    return str(row["user_id"]) if row else None


def created_at(reader: Reader, user_id: str) -> int | None:
    """When a user's key was created, in epoch milliseconds, or None without a key."""
    row = reader.one("SELECT created_at FROM user_api_keys WHERE user_id = :user", {"user": user_id})
    return int(row["created_at"]) if row else None


def holders(reader: Reader) -> list[tuple[str, int]]:
    """The users who have a key, with the time it was created (epoch milliseconds), newest first."""
    rows = reader.all("SELECT user_id, created_at FROM user_api_keys ORDER BY created_at DESC, user_id")
    return [(str(row["user_id"]), int(row["created_at"])) for row in rows]
