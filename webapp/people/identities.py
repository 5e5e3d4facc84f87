"""The identities of users at OpenID providers. This module owns ``identities``.

A user has one identity at a provider: the ``sub`` claim (OpenID Connect Core section 2), which never changes, unlike
the e-mail address.
"""

from dataclasses import dataclass

from webapp import audit
from webapp.kit.crypto import hash_token
from webapp.people.users import User
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table


@dataclass(frozen=True, slots=True)
class Identity:
    """A user's identity at the provider ``issuer``. Times are epoch milliseconds."""

    id: str
    user_id: str
    issuer: str
    subject: str
    created_at: int


_IDENTITIES = Table("identities", Identity)


def by_subject(reader: Reader, issuer: str, subject: str) -> Identity | None:
    """The identity with this subject, or None if no user has it."""
    return _IDENTITIES.get(reader, _id(issuer, subject))


def of_user(reader: Reader, issuer: str, user_id: str) -> Identity | None:
    """A user's identity at a provider, or None."""
    return _IDENTITIES.one(reader, "user_id = :user AND issuer = :issuer", {"user": user_id, "issuer": issuer})


def bind(tx: Tx, now: int, user: User, issuer: str, subject: str) -> None:
    """Link a provider's subject to ``user``. Raises :class:`webapp.errors.Conflict` if either is linked already."""
    _IDENTITIES.insert(tx, Identity(_id(issuer, subject), user.id, issuer, subject, now))
    audit.write(tx, now, "person", user.id, "identity_bound", f"Signed in by {issuer} for the first time.")


def _id(issuer: str, subject: str) -> str:
    return hash_token(f"{issuer} {subject}")
