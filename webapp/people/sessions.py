"""Sessions of signed-in browsers: random tokens, stored as their SHA-256. This module owns ``sessions``.

A session expires 14 days after it was last used, and at the latest 30 days after it was created. The cookie that
carries the token is left to the dashboard.
"""

import secrets
from dataclasses import dataclass, field, replace

from webapp.kit.clock import DAY, MINUTE, Clock
from webapp.kit.crypto import hash_token
from webapp.people import users
from webapp.store.contract import Store, Tx
from webapp.store.table import Table

LIFETIME, LONGEST = 14 * DAY, 30 * DAY
TOUCH_EVERY = MINUTE
_ID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Session:
    """One signed-in browser. Times are epoch milliseconds.

    ``project_id`` and ``environment`` are those that its pages show; empty for the dashboard's defaults.
    """

    token_hash: str = field(repr=False)
    user_id: str
    user_agent: str
    address: str
    created_at: int
    seen_at: int
    expires_at: int
    project_id: str = ""
    environment: str = ""

    @property
    def latest(self) -> int:
        """When the session expires at the latest, however often it is used."""
        return self.created_at + LONGEST

    @property
    def id(self) -> str:
        """Identifies the session on pages: the beginning of the hash, which is not enough to sign in with."""
        return self.token_hash[:_ID_LENGTH]


_SESSIONS = Table("sessions", Session, key="token_hash")


def start(store: Store, clock: Clock, *, user_id: str, user_agent: str, address: str) -> str:
    """Create a session and return its token, of which only the hash is stored. Also deletes expired sessions."""
    token, now = secrets.token_urlsafe(32), clock()
    with store.write() as tx:
        tx.run("DELETE FROM sessions WHERE expires_at <= :now", {"now": now})
        whose = (user_id, user_agent[:300], address[:64])
        _SESSIONS.insert(tx, Session(hash_token(token), *whose, now, now, now + LIFETIME))
        users.mark_seen(tx, now, user_id)
    return token


def find(store: Store, clock: Clock, token: str) -> Session | None:
    """The live session of ``token``, or None. Extends the session, with at most one write a minute."""
    session, now = _SESSIONS.get(store, hash_token(token)), clock()
    if session is None:
        return None
    if min(session.expires_at, session.latest) <= now:
        with store.write() as tx:  # so that setting the clock back does not revive it
            _SESSIONS.delete(tx, session.token_hash)
        return None
    if now - session.seen_at >= TOUCH_EVERY:
        session = replace(session, seen_at=now, expires_at=min(now + LIFETIME, session.latest))
        with store.write() as tx:
            _SESSIONS.update(tx, session.token_hash, seen_at=session.seen_at, expires_at=session.expires_at)
            users.mark_seen(tx, now, session.user_id)
    return session


def work_in(store: Store, session: Session, project_id: str, environment: str) -> None:
    """Switch a session to another project or environment."""
    with store.write() as tx:
        _SESSIONS.update(tx, session.token_hash, project_id=project_id, environment=environment)


def of_user(store: Store, clock: Clock, user_id: str) -> list[Session]:
    """A user's live sessions, the most recently used first."""
    where = "user_id = :user AND expires_at > :now ORDER BY seen_at DESC, token_hash"
    return _SESSIONS.all(store, where, {"user": user_id, "now": clock()})


def end(store: Store, *, user_id: str, session_id: str) -> bool:
    """End one of a user's sessions. Returns whether there was one."""
    with store.write() as tx:
        return bool(
            tx.run(
                "DELETE FROM sessions WHERE user_id = :user AND substr(token_hash, 1, CAST(:length AS INTEGER)) = :id",
                {"user": user_id, "length": _ID_LENGTH, "id": session_id},
            )
        )


def end_all(tx: Tx, user_id: str, *, keep: str = "") -> int:
    """End a user's sessions except the one with the id ``keep``. Returns how many ended."""
    return tx.run(
        "DELETE FROM sessions WHERE user_id = :user AND substr(token_hash, 1, CAST(:length AS INTEGER)) <> :id",
        {"user": user_id, "length": _ID_LENGTH, "id": keep},
    )
