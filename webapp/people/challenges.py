"""Challenges that a device signs, each of which is answered once. This module owns ``spent_challenges``."""

import hashlib
import secrets

from webapp.kit.clock import MINUTE
from webapp.store.contract import Tx

LIFETIME = 5 * MINUTE


def new() -> bytes:
    """A fresh challenge."""
    return secrets.token_bytes(32)


def spend(tx: Tx, now: int, challenge: bytes, lifetime: int = LIFETIME) -> bool:
    """Use ``challenge`` up; False where it was before. Those that are too old to be answered are forgotten.

    ``lifetime`` is how long, at most, whoever gave it takes an answer, in milliseconds.
    """
    tx.run("DELETE FROM spent_challenges WHERE until <= :now", {"now": now})
    return bool(
        tx.run(
            "INSERT INTO spent_challenges (challenge_hash, until) VALUES (:hash, :until) ON CONFLICT DO NOTHING",
            {"hash": hashlib.sha256(challenge).hexdigest(), "until": now + lifetime},
        )
    )
