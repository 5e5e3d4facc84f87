"""Links with which users who cannot sign in set a new password. This module owns ``password_resets``.

An owner or operator issues the link and passes it on; it is not mailed. A user has at most one, it works once,
within a day, and its token is stored as its SHA-256.
"""

import secrets
from dataclasses import dataclass, field

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Conflict, Forbidden
from webapp.kit.clock import DAY, Clock
from webapp.kit.crypto import hash_token
from webapp.people import passwords, sessions, users
from webapp.people.users import User
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

LIFETIME = DAY


@dataclass(frozen=True, slots=True)
class PasswordReset:
    """A link that was issued and not used yet. Times are epoch milliseconds."""

    user_id: str
    token_hash: str = field(repr=False)
    created_at: int
    expires_at: int


_RESETS = Table("password_resets", PasswordReset, key="user_id")


def issue(store: Store, clock: Clock, user: User) -> tuple[str, int]:
    """A new token for ``user``, which replaces any earlier one, and when it expires. Raises :class:`Conflict`."""
    if not user.enabled:
        raise Conflict(f"The login of {user.email} is disabled; enable it first.")
    token, now = secrets.token_urlsafe(24), clock()
    with store.write() as tx:
        _RESETS.upsert(tx, PasswordReset(user.id, hash_token(token), now, now + LIFETIME), keep=())
        audit.write(
            tx, now, "person", user.id, "reset_issued", "Issued a link with which a person sets a new password."
        )
    return token, now + LIFETIME


def user_of_token(reader: Reader, clock: Clock, token: str) -> User | None:
    """The user who may set a password with ``token``, or None if it is not valid."""
    reset = _RESETS.one(reader, "token_hash = :hash", {"hash": hash_token(token)})
    user = users.by_id(reader, reset.user_id) if reset and reset.expires_at > clock() else None
    return user if user and user.enabled else None


def redeem(store: Store, clock: Clock, *, token: str, password: str) -> User:
    """Set the password, delete the link and end all of the user's sessions.

    Raises :class:`Forbidden` for a token that does not work, :class:`webapp.errors.Invalid` for the password.
    """
    if user_of_token(store, clock, token) is None:  # before the slow hash
        raise Forbidden
    password_hash = passwords.prepared(password)
    with store.write() as tx:
        user = user_of_token(tx, clock, token)
        if user is None:
            raise Forbidden
        with audit.acting(Actor("person", user.id)):
            users.set_password(tx, clock(), user.id, password_hash)
        void(tx, user.id)
        sessions.end_all(tx, user.id)
    return user


def void(tx: Tx, user_id: str) -> None:
    """Delete a user's link, if there is one."""
    _RESETS.delete(tx, user_id)
