"""What an owner or operator does to the login of a person, with everything that ends with it.

A person's accounts and triggers belong to an external user of their id at the Connect service (:class:`Belongings`).
Who is disabled keeps them: triggers go on, and everything stands as it was when the person is enabled again, but that
they sign in again, and let agents in again. Who is removed leaves nothing behind.
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
    """What people have at the Connect service, by the ids of their logins."""

    def end_tokens(self, tx: Tx, user_id: str) -> None:
        """Let nobody call the service as this person with a token of before."""
        ...

    def remove(self, user_id: str) -> None:
        """Remove a person's accounts, triggers and runs, in every project."""
        ...


@dataclass(frozen=True, slots=True)
class Logins:
    """The verbs, and what they work with. ``public_url`` begins the links that people are handed."""

    store: Store
    clock: Clock
    public_url: str
    belongings: Belongings

    def change(self, user_id: str, *, role: str | None = None, enabled: bool | None = None) -> User:
        """Give a person another role, let them sign in, or end all that they are signed in with.

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
        """Sign a person out of every browser; how many there were. Raises :class:`webapp.errors.NotFound`."""
        with self.store.write() as tx:
            user = users.get(tx, user_id)
            count = sessions.end_all(tx, user.id)
            audit.write(tx, self.clock(), "person", user.id, "signed_out", "Signed a person out of every browser.")
        return count

    def reset_two_step(self, user_id: str) -> bool:
        """Let a person sign in with the password alone, as one who lost their phone; whether it was otherwise before.

        Raises :class:`webapp.errors.NotFound`.
        """
        with self.store.write() as tx:
            user = users.get(tx, user_id)
            removed = passkeys.remove_all(tx, self.clock(), user.id)
            return totp.disable(tx, self.clock(), user.id) or bool(removed)

    def reset_link(self, user_id: str) -> tuple[str, int]:
        """A link with which a person chooses another password, and when it expires, in epoch milliseconds.

        Raises :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Conflict` for somebody who is disabled.
        """
        token, expires_at = password_resets.issue(self.store, self.clock, users.get(self.store, user_id))
        return f"{self.public_url}/new-password?token={quote(token)}", expires_at

    def remove(self, user_id: str) -> None:
        """Remove a person, and then what they had connected and started.

        Raises :class:`webapp.errors.NotFound`, and :class:`webapp.errors.Conflict` for the last owner.
        """
        with self.store.write() as tx:
            user = users.get(tx, user_id)
            users.remove(tx, self.clock(), user)
            invitations.forget(tx, user.email)
        self.belongings.remove(user_id)
