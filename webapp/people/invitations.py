"""Invitations: links with which people make logins of their own. This module owns ``invitations``.

An owner names an address and a role, and hands the link over; Patchbay sends no mail. There is one invitation per
address. Its link works once, within seven days, and its token is kept as its SHA-256. What a person invited counts
while that person is an owner who may sign in.
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
from webapp.people import users
from webapp.people.users import User
from webapp.store.contract import Reader, Store, Tx
from webapp.store.table import Table

LIFETIME = 7 * DAY
REMEMBERED = 30 * DAY
_TAKEN = "{email} already has a login here; people sign in with it."


@dataclass(frozen=True, slots=True)
class Invitation:
    """One that waits for an answer. Times are epoch milliseconds.

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
# Who has a login by now needs none.
_OPEN = "NOT EXISTS (SELECT 1 FROM users WHERE users.email = invitations.email)"


def addresses(text: str) -> list[str]:
    """The addresses in ``text``, between which stand commas, semicolons, spaces or ends of lines; each once."""
    return list(dict.fromkeys(users.normal_email(part) for part in re.split(r"[\s,;]+", text) if part))


def invite(store: Store, clock: Clock, *, email: str, role: str) -> tuple[Invitation, str]:
    """Invite an address, in place of any invitation before; the invitation, and its token, which exists nowhere else.

    Invitations that ended more than 30 days ago are forgotten.

    Raises :class:`Invalid` with a detail per field, and :class:`Conflict` for somebody who has a login.
    """
    return invite_all(store, clock, addressees=[email], role=role)[0]


def invite_all(store: Store, clock: Clock, *, addressees: Iterable[str], role: str) -> list[tuple[Invitation, str]]:
    """Invite all of them, or nobody; otherwise like :func:`invite`."""
    users.check_role(role)
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
    """Invite the same address again, by another link. Raises :class:`NotFound`, :class:`Conflict`."""
    invitation = get(store, invitation_id)
    return invite(store, clock, email=invitation.email, role=invitation.role)


def link(public_url: str, token: str) -> str:
    """What the invited person opens."""
    return f"{public_url}/invitation?token={quote(token)}"


def withdraw(tx: Tx, now: int, invitation_id: str) -> None:
    """Take an invitation back. Raises :class:`NotFound`."""
    if not _INVITATIONS.delete(tx, invitation_id):
        raise NotFound("There is no such invitation.")
    audit.write(tx, now, "invitation", invitation_id, "withdrawn", "Withdrew an invitation.")


def forget(tx: Tx, email: str) -> None:
    """Forget the invitation of an address whose login is removed, so that its link does not bring the login back."""
    tx.run("DELETE FROM invitations WHERE email = :email", {"email": email})


def get(reader: Reader, invitation_id: str) -> Invitation:
    """The invitation with this id. Raises :class:`NotFound`."""
    invitation = _INVITATIONS.one(reader, f"id = :id AND {_OPEN}", {"id": invitation_id})
    if invitation is None:
        raise NotFound("There is no such invitation.")
    return invitation


def page(reader: Reader, window: cursors.Window) -> cursors.Page[Invitation]:
    """Invitations that wait for an answer, oldest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    return _INVITATIONS.page(reader, window, _OPEN)


def waiting(reader: Reader) -> list[Invitation]:
    """All of them, newest first."""
    return _INVITATIONS.all(reader, f"{_OPEN} ORDER BY created_at DESC, id")


def works(reader: Reader, now: int, invitation: Invitation) -> bool:
    """Whether its link may still be used."""
    if invitation.expires_at <= now:
        return False
    inviter = users.by_id(reader, invitation.invited_by) if invitation.invited_by is not None else None
    return invitation.invited_by is None or (inviter is not None and inviter.enabled and inviter.role == "owner")


def by_token(reader: Reader, now: int, token: str) -> Invitation | None:
    """The invitation of ``token``, if it may still be used."""
    return _usable(reader, now, "token_hash", hash_token(token))


def by_email(reader: Reader, now: int, email: str) -> Invitation | None:
    """The invitation of an address, likewise; whoever asks has made sure whose address it is."""
    return _usable(reader, now, "email", users.normal_email(email))


def accept(store: Store, clock: Clock, *, token: str, password: str) -> User:
    """Make the login, with the password that the person chose, and use the invitation up.

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
    """Make the login of ``new``, whom ``invitation`` invited, and use it up."""
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


def _usable(reader: Reader, now: int, column: str, value: str) -> Invitation | None:
    invitation = _INVITATIONS.one(reader, f"{column} = :value AND {_OPEN}", {"value": value})
    return invitation if invitation is not None and works(reader, now, invitation) else None
