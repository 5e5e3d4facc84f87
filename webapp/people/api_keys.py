"""API keys of people: one each, for the few operations that take one. This module owns ``user_api_keys``.

A key is kept as its SHA-256 and shown once, when it is given. Giving another one ends it at once (contract "API keys").
"""

import secrets

from webapp import audit
from webapp.kit.clock import Clock
from webapp.kit.crypto import hash_token
from webapp.store.contract import Reader, Store, Tx

PREFIX = "pbk_"


def give(store: Store, clock: Clock, user_id: str) -> str:
    """A new key for a person, in place of any before it. It exists nowhere else."""
    key = PREFIX + secrets.token_urlsafe(32)
    with store.write() as tx:
        tx.run(
            "INSERT INTO user_api_keys (user_id, key_hash, created_at) VALUES (:user, :hash, :now)"
            " ON CONFLICT (user_id) DO UPDATE SET key_hash = excluded.key_hash, created_at = excluded.created_at",
            {"user": user_id, "hash": hash_token(key), "now": clock()},
        )
        audit.write(tx, clock(), "key", user_id, "created", "Gave a person an API key; any before it ended.")
    return key


def end(tx: Tx, now: int, user_id: str) -> None:
    """Take a person's key away, if they have one."""
    if tx.run("DELETE FROM user_api_keys WHERE user_id = :user", {"user": user_id}):
        audit.write(tx, now, "key", user_id, "ended", "Ended a person's API key.")


def owner(reader: Reader, key: str) -> str | None:
    """The id of the person whose key this is, if it is anybody's."""
    if not key.startswith(PREFIX):
        return None
    row = reader.one("SELECT user_id FROM user_api_keys WHERE key_hash = :hash", {"hash": hash_token(key)})
    return str(row["user_id"]) if row else None


def given_at(reader: Reader, user_id: str) -> int | None:
    """When a person's key was given, in epoch milliseconds; None when they have none yet."""
    row = reader.one("SELECT created_at FROM user_api_keys WHERE user_id = :user", {"user": user_id})
    return int(row["created_at"]) if row else None
