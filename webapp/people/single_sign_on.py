"""Which user a person is who signs in with an OpenID provider, and with which role.

The provider's subject identifies the user. At the first sign-in, a verified e-mail address is matched with a user or an
invitation. Where groups have roles (``PATCHBAY_OIDC_ROLES``), a group also lets new people in, and the role follows the
groups at every sign-in, except that the last owner stays one. Verifying the claims is left to
:mod:`webapp.people.openid_provider`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Conflict
from webapp.kit.clock import Clock
from webapp.kit.crypto import new_id
from webapp.kit.translation import lazy as _
from webapp.people import api_keys, identities, invitations, passwords, roles, sessions, users
from webapp.people.openid_provider import Claims, NotSignedIn
from webapp.people.users import NewUser, User
from webapp.store.contract import Store, Tx

EVERYBODY = "*"
_UNCONFIRMED = _(
    "{email} is known here, but {name} does not confirm that this address is yours. Confirm it there, or sign in "
    "another way."
)
_ANOTHER = _("The login of {email} belongs to another person at {name}. Ask an owner of this installation.")
_NO_ADDRESS = _("{name} did not share your e-mail address. Ask its operator to share it.")
_NO_GROUP = _("None of your groups at {name} may sign in here. Ask an owner of this installation.")
_UNKNOWN = _("{email} has no login here yet. Ask an owner of this installation to invite you.")
_NO_OWNER = _("Nobody can sign in yet: an owner must sign up first.")


@dataclass(frozen=True, slots=True)
class Rules:
    """The operator's configuration: the provider's display ``name``, and the role of each group, if any has one."""

    name: str
    role_of_group: Sequence[tuple[str, str]]

    def role(self, claims: Claims) -> str | None:
        """The highest role that the person's groups have, or None."""
        theirs = {role for group, role in self.role_of_group if group == EVERYBODY or group in claims.groups}
        return next((role for role in roles.ROLES if role in theirs), None)


def admit(store: Store, clock: Clock, rules: Rules, claims: Claims) -> User:
    """The user that ``claims`` identify, created if need be. Raises :class:`NotSignedIn` with a message to show.

    The caller checks whether the user is enabled.
    """
    now = clock()
    with store.write() as tx:
        user = _known_user(tx, now, rules, claims) or _new_user(tx, now, rules, claims)
        if not user.enabled or not rules.role_of_group:
            return user
        with audit.acting(Actor("person", user.id)):
            if (after := _with_role(tx, now, user, rules.role(claims))) is not None:
                return after
            sessions.end_all(tx, user.id)
            api_keys.revoke(tx, now, user.id)
    raise _refusal(rules, _NO_GROUP)


def _known_user(tx: Tx, now: int, rules: Rules, claims: Claims) -> User | None:
    identity = identities.by_subject(tx, claims.issuer, claims.subject)
    if identity is not None:
        return users.get(tx, identity.user_id)
    user = users.by_email(tx, claims.email)
    if user is None:
        return None
    if not claims.email_verified:
        raise _refusal(rules, _UNCONFIRMED, user.email)
    if identities.of_user(tx, claims.issuer, user.id) is not None:
        raise _refusal(rules, _ANOTHER, user.email)
    with audit.acting(Actor("person", user.id)):
        identities.bind(tx, now, user, claims.issuer, claims.subject)
    return user


def _new_user(tx: Tx, now: int, rules: Rules, claims: Claims) -> User:
    """Create a user for a person whom a group or an invitation lets in."""
    email, problems = users.checked_email(claims.email)
    if problems:
        raise _refusal(rules, _NO_ADDRESS)
    invitation = invitations.by_email(tx, now, email)
    if invitation is not None and not claims.email_verified:
        raise _refusal(rules, _UNCONFIRMED, email)
    role = rules.role(claims) if rules.role_of_group else (invitation.role if invitation else None)
    if role is None:
        raise _refusal(rules, _NO_GROUP if rules.role_of_group else _UNKNOWN, email)
    if not roles.is_owner(role) and not users.any_user(tx):
        raise _refusal(rules, _NO_OWNER)
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
    """The user with the role of their groups, or None without such a group. The last owner stays an owner."""
    try:
        if role is not None:
            return users.set_role(tx, now, user, role)
        users.keep_an_owner(tx, user)
    except Conflict:
        return user
    return None


def _refusal(rules: Rules, sentence: str, email: str = "") -> NotSignedIn:
    return NotSignedIn(sentence.format(name=rules.name, email=email))
