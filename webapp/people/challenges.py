"""Random challenges for devices to sign, each accepted only once. This module owns ``spent_challenges``."""

import hashlib
import secrets

from webapp.kit.clock import MINUTE
from webapp.store.contract import Tx

LIFETIME = 5 * MINUTE


def new() -> bytes:
    """A new random challenge of 32 bytes."""
    return secrets.token_bytes(32)


def spend(tx: Tx, now: int, challenge: bytes, lifetime: int = LIFETIME) -> bool:
    """Record that ``challenge`` was answered. Returns False if it was answered before.

    ``lifetime`` is the longest time, in milliseconds, for which the caller accepts an answer; older records are
    deleted.
    """
    tx.run("DELETE FROM spent_challenges WHERE until <= :now", {"now": now})
    return bool(
        tx.run(
            "INSERT INTO spent_challenges (challenge_hash, until) VALUES (:hash, :until) ON CONFLICT DO NOTHING",
            {"hash": hashlib.sha256(challenge).hexdigest(), "until": now + lifetime},
        )
    )
