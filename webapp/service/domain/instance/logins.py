"""What an owner or operator does to the login of a person, with everything that ends with it.

A person's accounts and triggers belong to an external user of their id. Who is disabled keeps them: triggers go on, and
everything stands as it was when the person is enabled again. Who is removed leaves nothing behind.
"""

from urllib.parse import quote

from webapp import audit
from webapp.people import passkeys, password_resets, sessions, totp, users
from webapp.people.users import User
from webapp.service.domain.access import tokens
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import external_users


def change(service: Service, user_id: str, *, role: str | None = None, enabled: bool | None = None) -> User:
    """Give a person another role, let them sign in, or end all that they are signed in with.

    Raises :class:`webapp.errors.NotFound`, :class:`webapp.errors.Invalid` for an unknown role, and
    :class:`webapp.errors.Conflict` for the last owner.
    """
    now = service.clock()
    with service.store.write() as tx:
        user = users.get(tx, user_id)
        if role is not None:
            user = users.set_role(tx, now, user, role)
        if enabled is not None:
            user = users.set_enabled(tx, now, user, enabled)
        if not user.enabled:
            password_resets.void(tx, user.id)
            sessions.end_all(tx, user.id)
            for known in external_users.of_id(tx, user.id):
                tokens.revoke_all(tx, user=known)
    return user


def end_sessions(service: Service, user_id: str) -> int:
    """Sign a person out of every browser; how many there were. Raises :class:`webapp.errors.NotFound`."""
    with service.store.write() as tx:
        user = users.get(tx, user_id)
        count = sessions.end_all(tx, user.id)
        audit.write(tx, service.clock(), "person", user.id, "signed_out", "Signed a person out of every browser.")
    return count


def reset_two_step(service: Service, user_id: str) -> bool:
    """Let a person sign in with the password alone, as one who lost their phone; whether it was otherwise before.

    Raises :class:`webapp.errors.NotFound`.
    """
    with service.store.write() as tx:
        user = users.get(tx, user_id)
        removed = passkeys.remove_all(tx, service.clock(), user.id)
        return totp.disable(tx, service.clock(), user.id) or bool(removed)


def reset_link(service: Service, user_id: str) -> tuple[str, int]:
    """A link with which a person chooses another password, and when it expires, in epoch milliseconds.

    Raises :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Conflict` for somebody who is disabled.
    """
    token, expires_at = password_resets.issue(service.store, service.clock, users.get(service.store, user_id))
    return f"{service.settings.public_url}/new-password?token={quote(token)}", expires_at


def remove(service: Service, user_id: str) -> None:
    """Remove a person, and then what they had connected and started in every project.

    Raises :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Conflict` for the last owner.
    """
    with service.store.write() as tx:
        users.remove(tx, service.clock(), users.get(tx, user_id))
    for gone in external_users.of_id(service.store, user_id):
        removing.user(service, gone)
