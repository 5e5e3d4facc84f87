"""The start token: printed once at start, it lets the first visitor create the owner. Owns ``start_tokens``.

Every start without a user makes a new one and voids the one before. The first user voids it for good.
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
    """What end users read: what the product is called, and where they may ask for help."""

    app_name: str
    support_email: str


class FirstProject(Protocol):
    """The project that the first start names."""

    def names(self) -> ProjectNames:
        """What it is called already; empty for what nobody has said yet."""

    def problems(self, names: ProjectNames) -> Sequence[Detail]:
        """What is wrong with ``names``, by field."""

    def save(self, tx: Tx, names: ProjectNames) -> None:
        """Call it that. Raises :class:`webapp.errors.Invalid`."""


def issue(store: Store, clock: Clock) -> str | None:
    """A new start token in place of any before it, or none when somebody can sign in already."""
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


def admits(reader: Store | Tx, clock: Clock, token: str) -> bool:
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
    """Create the owner, name the project where there is one, and void the token: all or nothing.

    Raises :class:`Forbidden` for a token that is unknown, too old or void, :class:`webapp.errors.Invalid` with a detail
    for each address, password or name that cannot be used.
    """
    if not admits(store, clock, token):
        raise Forbidden("This start link is used up or too old; restart Patchbay and open the link that it prints.")
    details = list(project.problems(names)) if project else []
    try:
        new = users.prepare(clock, email=email, password=password, role="owner")
    except Invalid as error:
        details += error.details
    if details:
        raise Invalid(details[0].message, details)
    with store.write() as tx:
        if not admits(tx, clock, token):
            raise Forbidden("Somebody else was faster: the owner exists already. Sign in instead.")
        tx.run("DELETE FROM start_tokens")
        with audit.acting(Actor("person", new.user.id)):
            if project:
                project.save(tx, names)
            return users.insert(tx, new)
