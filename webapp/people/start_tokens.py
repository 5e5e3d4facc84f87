"""The start token, with which the first visitor creates the owner. This module owns ``start_tokens``.

Every start of an installation without users prints a new token, which replaces the one before. Creating the owner
deletes it.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Detail, Forbidden, Invalid
from webapp.kit.clock import DAY, Clock
from webapp.kit.crypto import hash_token
from webapp.people import users
from webapp.store.contract import Store, Tx

LIFETIME = 7 * DAY


@dataclass(frozen=True, slots=True)
class ProjectNames:
    """The names that end users read: the product's, and the address of its support."""

    app_name: str
    support_email: str


class FirstProject(Protocol):
    """The project that is named when the owner is created."""

    def names(self) -> ProjectNames:
        """The names that it has already; empty strings for those that were never set."""

    def problems(self, names: ProjectNames) -> Sequence[Detail]:
        """What is wrong with ``names``, by field."""

    def save(self, tx: Tx, names: ProjectNames) -> None:
        """Set its names. Raises :class:`webapp.errors.Invalid`."""


def issue(store: Store, clock: Clock) -> str | None:
    """A new start token, which replaces any earlier one, or None if there is a user already."""
    token, now = secrets.token_urlsafe(24), clock()
    with store.write() as tx:
        tx.run("DELETE FROM start_tokens")
        if users.any_user(tx):
            return None
        tx.run(
            "INSERT INTO start_tokens (token_hash, created_at, expires_at) VALUES (:hash, :now, :expires)",
            {"hash": hash_token(token), "now": now, "expires": now + LIFETIME},
        )
    return token


def is_valid(reader: Store | Tx, clock: Clock, token: str) -> bool:
    """Whether ``token`` may still create the owner."""
    row = reader.one("SELECT expires_at FROM start_tokens WHERE token_hash = :hash", {"hash": hash_token(token)})
    return row is not None and bool(row["expires_at"] > clock()) and not users.any_user(reader)


def create_owner(
    store: Store,
    clock: Clock,
    *,
    token: str,
    email: str,
    password: str,
    project: FirstProject | None = None,
    names: ProjectNames = ProjectNames("", ""),
) -> users.User:
    """Create the owner, name the project if there is one, and delete the token: all or nothing.

    Raises :class:`Forbidden` for a token that is unknown, too old or void, :class:`webapp.errors.Invalid` with a detail
    for each address, password or name that cannot be used.
    """
    if not is_valid(store, clock, token):
        raise Forbidden("This start link is used up or too old; restart Patchbay and open the link that it prints.")
    details = list(project.problems(names)) if project else []
    try:
        new = users.prepare(clock, email=email, password=password, role="owner")
    except Invalid as error:
        details += error.details
    if details:
        raise Invalid(details[0].message, details)
    with store.write() as tx:
        if not is_valid(tx, clock, token):
            raise Forbidden("Somebody else was faster: the owner exists already. Sign in instead.")
        tx.run("DELETE FROM start_tokens")
        with audit.acting(Actor("person", new.user.id)):
            if project:
                project.save(tx, names)
            return users.insert(tx, new)
