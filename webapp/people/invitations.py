"""Invitations: links with which people create their own logins. This module owns ``invitations``.

An owner chooses an address and a role, and passes the link on; it is not mailed. There is at most one invitation
per address. Its link works once, within seven days, while its inviter is an enabled owner. The token is stored as its
SHA-256.
"""

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Conflict, Forbidden, Invalid, NotFound
from webapp.kit import cursors
from webapp.kit.clock import DAY, Clock
from webapp.kit.crypto import hash_token, new_id
from webapp.people import roles, users
from webapp.people.users import User
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

LIFETIME = 7 * DAY
REMEMBERED = 30 * DAY
_TAKEN = "{email} already has a login here; people sign in with it."


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation that was not accepted yet. Times are epoch milliseconds.

    ``invited_by`` is the person who invited; None for a command or an OAuth client.
    """

    id: str
    email: str
    role: str
    invited_by: str | None
    token_hash: str = field(repr=False)
    created_at: int
    expires_at: int


_INVITATIONS = Table("invitations", Invitation)
# Not the invitations of people who have a login by now.
_OPEN = "NOT EXISTS (SELECT 1 FROM users WHERE users.email = invitations.email)"


def addresses(text: str) -> list[str]:
    """The distinct addresses in ``text``, separated by commas, semicolons, spaces or line breaks."""
    return list(dict.fromkeys(users.normal_email(part) for part in re.split(r"[\s,;]+", text) if part))


def invite(store: Store, clock: Clock, *, email: str, role: str) -> tuple[Invitation, str]:
    """Invite an address, which replaces any earlier invitation. Returns the invitation and its token, shown only here.

    Also deletes invitations that expired more than 30 days ago. Raises :class:`Invalid` with a detail per field, and
    :class:`Conflict` for an address that has a login.
    """
    return invite_all(store, clock, addressees=[email], role=role)[0]


def invite_all(store: Store, clock: Clock, *, addressees: Iterable[str], role: str) -> list[tuple[Invitation, str]]:
    """Invite several addresses, all or none, like :func:`invite`."""
    roles.check(role)
    checked = [users.checked_email(email) for email in addressees]
    for _email, problems in checked:
        if problems:
            raise Invalid(problems[0].message, problems)
    now = clock()
    with store.write() as tx:
        invited = [_invite(tx, now, email, role) for email, _problems in checked]
        tx.run("DELETE FROM invitations WHERE expires_at < :limit", {"limit": now - REMEMBERED})
    return invited


def renew(store: Store, clock: Clock, invitation_id: str) -> tuple[Invitation, str]:
    """Invite the same address again with a new link. Raises :class:`NotFound`, :class:`Conflict`."""
    invitation = get(store, invitation_id)
    return invite(store, clock, email=invitation.email, role=invitation.role)


def link(public_url: str, token: str) -> str:
    """The URL at which the invited person creates a login."""
    return f"{public_url}/invitation?token={quote(token)}"


def withdraw(tx: Tx, now: int, invitation_id: str) -> None:
    """Delete an invitation. Raises :class:`NotFound`."""
    if not _INVITATIONS.delete(tx, invitation_id):
        raise NotFound("There is no such invitation.")
    audit.write(tx, now, "invitation", invitation_id, "withdrawn", "Withdrew an invitation.")


def forget(tx: Tx, email: str) -> None:
    """Delete the invitation of an address whose login is removed, so that its link cannot create the login again."""
    tx.run("DELETE FROM invitations WHERE email = :email", {"email": email})


def get(reader: Reader, invitation_id: str) -> Invitation:
    """The invitation with this id. Raises :class:`NotFound`."""
    invitation = _INVITATIONS.one(reader, f"id = :id AND {_OPEN}", {"id": invitation_id})
    if invitation is None:
        raise NotFound("There is no such invitation.")
    return invitation


def page(reader: Reader, window: cursors.Window) -> cursors.Page[Invitation]:
    """A page of the open invitations, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return _INVITATIONS.page(reader, window, _OPEN)


def list_open(reader: Reader) -> list[Invitation]:
    """All open invitations, newest first."""
    return _INVITATIONS.all(reader, f"{_OPEN} ORDER BY created_at DESC, id")


def is_valid(reader: Reader, now: int, invitation: Invitation) -> bool:
    """Whether the invitation's link may still be used."""
    if invitation.expires_at <= now:
        return False
    inviter = users.by_id(reader, invitation.invited_by) if invitation.invited_by is not None else None
    return invitation.invited_by is None or (inviter is not None and inviter.enabled and roles.may_invite(inviter.role))


def by_token(reader: Reader, now: int, token: str) -> Invitation | None:
    """The valid invitation with ``token``, or None."""
    return _valid(reader, now, "token_hash", hash_token(token))


def by_email(reader: Reader, now: int, email: str) -> Invitation | None:
    """The valid invitation of an address, or None. The caller has verified who owns the address."""
    return _valid(reader, now, "email", users.normal_email(email))


def accept(store: Store, clock: Clock, *, token: str, password: str) -> User:
    """Create the user with the chosen password and delete the invitation.

    Raises :class:`Forbidden` for a token that does not work, :class:`Invalid` for the password.
    """
    invitation = by_token(store, clock(), token)
    if invitation is None:  # before the slow hash
        raise Forbidden
    new = users.prepare(clock, email=invitation.email, password=password, role=invitation.role)
    with store.write() as tx:
        if by_token(tx, clock(), token) is None:
            raise Forbidden
        return redeem(tx, invitation, new)


def redeem(tx: Tx, invitation: Invitation, new: users.NewUser) -> User:
    """Create the user ``new``, whom ``invitation`` invited, and delete the invitation."""
    _INVITATIONS.delete(tx, invitation.id)
    with audit.acting(Actor("person", new.user.id)):
        return users.insert(tx, new)


def _invite(tx: Tx, now: int, email: str, role: str) -> tuple[Invitation, str]:
    if users.by_email(tx, email) is not None:
        raise Conflict(_TAKEN.format(email=email))
    token, actor = secrets.token_urlsafe(24), audit.current()
    before = _INVITATIONS.one(tx, "email = :email", {"email": email})
    invitation = Invitation(
        id=before.id if before else new_id("inv"),
        email=email,
        role=role,
        invited_by=actor.id if actor.kind == "person" else None,
        token_hash=hash_token(token),
        created_at=now,
        expires_at=now + LIFETIME,
    )
    _INVITATIONS.upsert(tx, invitation, keep=())
    audit.write(tx, now, "invitation", invitation.id, "created", f"Invited a person as {role}.")
    return invitation, token


def _valid(reader: Reader, now: int, column: str, value: str) -> Invitation | None:
    invitation = _INVITATIONS.one(reader, f"{column} = :value AND {_OPEN}", {"value": value})
    return invitation if invitation is not None and is_valid(reader, now, invitation) else None
