"""What owners and operators do with the logins of others: change roles, disable, sign out, reset and remove.

A user's accounts and triggers belong to the external user with the same id in the Connect service
(:class:`Belongings`). Disabling a user ends their sessions and their agents' access, and keeps the rest: triggers
continue to run, and nothing is lost when the user is enabled again. Removing a user deletes all of it.
"""

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from webapp import audit
from webapp.kit.clock import Clock
from webapp.people import invitations, passkeys, password_resets, sessions, totp, users
from webapp.people.agents import grants
from webapp.people.users import User
from webapp.store.contract import Store, Tx


class Belongings(Protocol):
    """What users have in the Connect service, by user id."""

    def end_tokens(self, tx: Tx, user_id: str) -> None:
        """Revoke the user's tokens for the service."""
        ...

    def remove(self, user_id: str) -> None:
        """Delete a user's accounts, triggers and runs in every project."""
        ...


@dataclass(frozen=True, slots=True)
class Logins:
    """Manages logins. The links that are passed on to people start with ``public_url``."""

    store: Store
    clock: Clock
    public_url: str
    belongings: Belongings

    def change(self, user_id: str, *, role: str | None = None, enabled: bool | None = None) -> User:
        """Change a user's role, or enable or disable them; disabling ends their sessions, tokens and agents' access.

        Raises :class:`webapp.errors.NotFound`, :class:`webapp.errors.Invalid` for an unknown role, and
        :class:`webapp.errors.Conflict` for the last owner.
        """
        now = self.clock()
        with self.store.write() as tx:
            user = users.get(tx, user_id)
            if role is not None:
                user = users.set_role(tx, now, user, role)
            if enabled is not None:
                user = users.set_enabled(tx, now, user, enabled)
            if not user.enabled:
                password_resets.void(tx, user.id)
                sessions.end_all(tx, user.id)
                grants.end_all(tx, now, user.id, "The login of a person was disabled, so the access of an agent ended.")
                self.belongings.end_tokens(tx, user.id)
        return user

    def end_sessions(self, user_id: str) -> int:
        """End all sessions of a user and return their number. Raises :class:`webapp.errors.NotFound`."""
        with self.store.write() as tx:
            user = users.get(tx, user_id)
            count = sessions.end_all(tx, user.id)
            audit.write(tx, self.clock(), "person", user.id, "signed_out", "Signed a person out of every browser.")
        return count

    def reset_two_step(self, user_id: str) -> bool:
        """Let a user, such as one who lost their phone, sign in with only the password; whether a second step was on.

        Raises :class:`webapp.errors.NotFound`.
        """
        with self.store.write() as tx:
            user = users.get(tx, user_id)
            removed = passkeys.remove_all(tx, self.clock(), user.id)
            return totp.disable(tx, self.clock(), user.id) or bool(removed)

    def reset_link(self, user_id: str) -> tuple[str, int]:
        """A link with which a user sets a new password, and when it expires, in epoch milliseconds.

        Raises :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Conflict` for a disabled user.
        """
        token, expires_at = password_resets.issue(self.store, self.clock, users.get(self.store, user_id))
        return f"{self.public_url}/new-password?token={quote(token)}", expires_at

    def remove(self, user_id: str) -> None:
        """Delete a user, and then their accounts, triggers and runs.

        Raises :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Conflict` for the last owner.
        """
        with self.store.write() as tx:
            user = users.get(tx, user_id)
            users.remove(tx, self.clock(), user)
            invitations.forget(tx, user.email)
        self.belongings.remove(user_id)
