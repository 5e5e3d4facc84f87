"""Who may come in by an OpenID provider, as whom, and with which role.

A person is known by the provider's own name for them. At first they are matched by an address that the provider vouches
for: with a login, or with an invitation. Where groups have roles (``PATCHBAY_OIDC_ROLES``), a group also lets new
people in, and the role follows the groups at every sign-in; but there is always an owner.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Conflict
from webapp.kit.clock import Clock
from webapp.kit.crypto import new_id
from webapp.kit.translation import lazy as _
from webapp.people import api_keys, identities, invitations, passwords, sessions, users
from webapp.people.openid_provider import Claims, NotSignedIn
from webapp.people.users import NewUser, User
from webapp.store.contract import Store, Tx

EVERYBODY = "*"
_UNCONFIRMED = _(
    "{email} is known here, but {name} does not confirm that this address is yours. Confirm it there, or sign in "
    "another way."
)
_ANOTHER = _("The login of {email} belongs to another person at {name}. Ask an owner of this installation.")
_NO_ADDRESS = _("{name} did not tell your e-mail address. Ask whoever runs it to share it.")
_NO_GROUP = _("None of your groups at {name} may sign in here. Ask an owner of this installation.")
_UNKNOWN = _("{email} has no login here yet. Ask an owner of this installation to invite you.")
_NO_OWNER = _("Nobody can sign in yet: an owner has to begin.")


@dataclass(frozen=True, slots=True)
class Rules:
    """What the operator decided: the provider's ``name`` for people, and the role of each group, if any have one."""

    name: str
    role_of_group: Sequence[tuple[str, str]]

    def role(self, claims: Claims) -> str | None:
        """The highest role of the person's groups."""
        theirs = {role for group, role in self.role_of_group if group == EVERYBODY or group in claims.groups}
        return next((role for role in users.ROLES if role in theirs), None)


def admit(store: Store, clock: Clock, rules: Rules, claims: Claims) -> User:
    """The login of whoever the provider vouches for. Raises :class:`NotSignedIn` with a sentence for the person.

    Whether a person who was disabled may pass is up to the caller.
    """
    now = clock()
    with store.write() as tx:
        user = _known(tx, now, rules, claims) or _new(tx, now, rules, claims)
        if not user.enabled or not rules.role_of_group:
            return user
        with audit.acting(Actor("person", user.id)):
            if (after := _with_role(tx, now, user, rules.role(claims))) is not None:
                return after
            sessions.end_all(tx, user.id)
            api_keys.end(tx, now, user.id)
    raise _no(rules, _NO_GROUP)


def _known(tx: Tx, now: int, rules: Rules, claims: Claims) -> User | None:
    identity = identities.by_subject(tx, claims.issuer, claims.subject)
    if identity is not None:
        return users.get(tx, identity.user_id)
    user = users.by_email(tx, claims.email)
    if user is None:
        return None
    if not claims.email_verified:
        raise _no(rules, _UNCONFIRMED, user.email)
    if identities.of_user(tx, claims.issuer, user.id) is not None:
        raise _no(rules, _ANOTHER, user.email)
    with audit.acting(Actor("person", user.id)):
        identities.bind(tx, now, user, claims.issuer, claims.subject)
    return user


def _new(tx: Tx, now: int, rules: Rules, claims: Claims) -> User:
    """Make a login for somebody whom a group or an invitation lets in."""
    email, problems = users.checked_email(claims.email)
    if problems:
        raise _no(rules, _NO_ADDRESS)
    invitation = invitations.by_email(tx, now, email)
    if invitation is not None and not claims.email_verified:
        raise _no(rules, _UNCONFIRMED, email)
    role = rules.role(claims) if rules.role_of_group else (invitation.role if invitation else None)
    if role is None:
        raise _no(rules, _NO_GROUP if rules.role_of_group else _UNKNOWN, email)
    if role != "owner" and not users.any_user(tx):
        raise _no(rules, _NO_OWNER)
    new = NewUser(User(new_id("u"), email, role, now, now), passwords.NONE)
    if invitation is not None:
        user = invitations.redeem(tx, invitation, new)
    else:
        with audit.acting(Actor("person", new.user.id)):
            user = users.insert(tx, new)
    with audit.acting(Actor("person", user.id)):
        identities.bind(tx, now, user, claims.issuer, claims.subject)
    return user


def _with_role(tx: Tx, now: int, user: User, role: str | None) -> User | None:
    """The person with the role of their groups; None for no group, but for the last owner, who stays one."""
    try:
        if role is not None:
            return users.set_role(tx, now, user, role)
        users.keep_an_owner(tx, user)
    except Conflict:
        return user
    return None


def _no(rules: Rules, sentence: str, email: str = "") -> NotSignedIn:
    return NotSignedIn(sentence.format(name=rules.name, email=email))
