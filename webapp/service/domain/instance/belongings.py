"""What people have at the embedded service: an external user of their login's id in each project, with all it owns."""

from dataclasses import dataclass

from webapp.people.logins import Logins
from webapp.service.domain.access import tokens
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import external_users
from webapp.store.contract import Tx


@dataclass(frozen=True, slots=True)
class EmbeddedBelongings:
    """Ends and removes them, for :class:`webapp.people.logins.Logins`."""

    service: Service

    def end_tokens(self, tx: Tx, user_id: str) -> None:
        """Revoke the person's Connect tokens."""
        for known in external_users.of_id(tx, user_id):
            tokens.revoke_all(tx, user=known)

    def remove(self, user_id: str) -> None:
        """Remove the person's external users with their triggers, accounts and runs."""
        for known in external_users.of_id(self.service.store, user_id):
            removing.user(self.service, known)


def logins(service: Service) -> Logins:
    """The logins of this installation."""
    return Logins(service.store, service.clock, service.settings.public_url, EmbeddedBelongings(service))
