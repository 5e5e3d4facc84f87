"""The data that the people of the dashboard have in the service: their external users, and keys of authenticator
apps.

A login has an external user with its id in each project. The keys of authenticator apps are sealed with the data key of
the installation.
"""

from dataclasses import dataclass

from webapp.people.logins import Logins
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.base.keyring import INSTANCE
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import external_users
from webapp.store.contract import Tx

SEALED = SealedColumn("totp_secrets", "secret_sealed", key="user_id", owner=f"'{INSTANCE}'")


@dataclass(frozen=True, slots=True)
class EmbeddedBelongings:
    """Ends and removes them, for :class:`webapp.people.logins.Logins`."""

    service: Service

    def end_tokens(self, tx: Tx, user_id: str) -> None:
        """Revoke the person's Connect tokens."""
        for known in external_users.of_id(tx, user_id):
            connect_tokens.revoke_all(tx, user=known)

    def remove(self, user_id: str) -> None:
        """Remove the person's external users with their triggers, accounts and runs."""
        for known in external_users.of_id(self.service.store, user_id):
            removal.user(self.service, known)


def logins(service: Service) -> Logins:
    """The logins of this installation."""
    return Logins(service.store, service.clock, service.settings.public_url, EmbeddedBelongings(service))


@dataclass(frozen=True, slots=True)
class TotpSealer:
    """Seals the secrets of :mod:`webapp.people.totp`."""

    service: Service

    def seal(self, tx: Tx, row: str, plain: bytes) -> bytes:
        """Seal ``plain`` for ``row``."""
        return SEALED.seal(self.service, tx, INSTANCE, row, plain)

    def open(self, row: str, box: bytes) -> bytes:
        """Open a sealed value."""
        return SEALED.open(self.service, INSTANCE, row, box)
