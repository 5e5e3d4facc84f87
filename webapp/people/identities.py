"""Who people are at the OpenID provider where they sign in. This module owns ``identities``.

A login has one identity at a provider, by the provider's own name for the person, which never changes (OpenID Connect
Core section 2, ``sub``); an address may.
"""

from dataclasses import dataclass

from webapp import audit
from webapp.kit.crypto import hash_token
from webapp.people.users import User
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table


@dataclass(frozen=True, slots=True)
class Identity:
    """A login's identity at the provider ``issuer``. Times are epoch milliseconds."""

    id: str
    user_id: str
    issuer: str
    subject: str
    created_at: int


_IDENTITIES = Table("identities", Identity)


def by_subject(reader: Reader, issuer: str, subject: str) -> Identity | None:
    """The identity of that name, if a login has it."""
    return _IDENTITIES.get(reader, _id(issuer, subject))


def of_user(reader: Reader, issuer: str, user_id: str) -> Identity | None:
    """A login's identity at a provider, if it has one."""
    return _IDENTITIES.one(reader, "user_id = :user AND issuer = :issuer", {"user": user_id, "issuer": issuer})


def bind(tx: Tx, now: int, user: User, issuer: str, subject: str) -> None:
    """Let the person of that name sign in as ``user``. Raises :class:`webapp.errors.Conflict` for a second one."""
    _IDENTITIES.insert(tx, Identity(_id(issuer, subject), user.id, issuer, subject, now))
    audit.write(tx, now, "person", user.id, "identity_bound", f"Signed in by {issuer} for the first time.")


def _id(issuer: str, subject: str) -> str:
    return hash_token(f"{issuer} {subject}")
