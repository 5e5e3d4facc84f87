"""Signed-in browsers: a random token in a cookie, kept here as its SHA-256. This module owns ``sessions``.

A session slides: it ends 14 days after it was last used. Which cookie carries the token is the dashboard's matter.
"""

import secrets
from dataclasses import dataclass

from webapp.kit.clock import DAY, MINUTE, Clock
from webapp.kit.secrets import hash_token
from webapp.store.contract import Row, Store

LIFETIME = 14 * DAY
TOUCH_EVERY = MINUTE
_ID_LENGTH = 16  # of the hash: names a session on a page without being of use to anybody


@dataclass(frozen=True, slots=True)
class Session:
    """One signed-in browser. Times are epoch milliseconds."""

    id: str
    user_id: str
    user_agent: str
    address: str
    created_at: int
    seen_at: int
    expires_at: int


def start(store: Store, clock: Clock, *, user_id: str, user_agent: str, address: str) -> str:
    """Sign a person in and return the token, which exists nowhere else. Sessions past their end are swept away."""
    token, now = secrets.token_urlsafe(32), clock()
    with store.write() as tx:
        tx.run("DELETE FROM sessions WHERE expires_at <= :now", {"now": now})
        tx.run(
            "INSERT INTO sessions (token_hash, user_id, user_agent, address, created_at, seen_at, expires_at)"
            " VALUES (:hash, :user, :agent, :address, :now, :now, :expires)",
            {
                "hash": hash_token(token), "user": user_id, "agent": user_agent[:300], "address": address[:64],
                "now": now, "expires": now + LIFETIME,
            },
        )  # fmt: skip
    return token


def find(store: Store, clock: Clock, token: str) -> Session | None:
    """The live session of ``token``, if any. Seeing it moves its end, written down at most once a minute."""
    row = store.one("SELECT * FROM sessions WHERE token_hash = :hash", {"hash": hash_token(token)})
    now = clock()
    if row is None:
        return None
    if row["expires_at"] <= now:
        with store.write() as tx:  # a clock that is set back does not revive it
            tx.run("DELETE FROM sessions WHERE token_hash = :token_hash", {"token_hash": row["token_hash"]})
        return None
    if now - row["seen_at"] >= TOUCH_EVERY:
        row |= {"seen_at": now, "expires_at": now + LIFETIME}
        with store.write() as tx:
            tx.run(
                "UPDATE sessions SET seen_at = :seen_at, expires_at = :expires_at WHERE token_hash = :token_hash",
                {name: row[name] for name in ("seen_at", "expires_at", "token_hash")},
            )
    return _session(row)


def of_user(store: Store, clock: Clock, user_id: str) -> list[Session]:
    """A person's live sessions, the one used last first."""
    rows = store.all(
        "SELECT * FROM sessions WHERE user_id = :user AND expires_at > :now ORDER BY seen_at DESC, token_hash",
        {"user": user_id, "now": clock()},
    )
    return [_session(row) for row in rows]


def end(store: Store, *, user_id: str, session_id: str) -> bool:
    """End one of a person's sessions; whether there was one."""
    with store.write() as tx:
        return bool(
            tx.run(
                "DELETE FROM sessions WHERE user_id = :user AND substr(token_hash, 1, :length) = :id",
                {"user": user_id, "length": _ID_LENGTH, "id": session_id},
            )
        )


def end_others(store: Store, *, user_id: str, keep: str) -> int:
    """End all of a person's sessions but the one with the id ``keep``; how many there were."""
    with store.write() as tx:
        return tx.run(
            "DELETE FROM sessions WHERE user_id = :user AND substr(token_hash, 1, :length) <> :id",
            {"user": user_id, "length": _ID_LENGTH, "id": keep},
        )


def _session(row: Row) -> Session:
    return Session(
        id=row["token_hash"][:_ID_LENGTH],
        user_id=row["user_id"],
        user_agent=row["user_agent"],
        address=row["address"],
        created_at=row["created_at"],
        seen_at=row["seen_at"],
        expires_at=row["expires_at"],
    )
