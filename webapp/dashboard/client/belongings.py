"""What people have at another Connect service, which keeps it under the ids of their logins here."""

from webapp.dashboard.client.connect import ConnectClient
from webapp.errors import NotFound
from webapp.store.contract import Tx


class RemoteBelongings:
    """Removes it, for :class:`webapp.people.logins.Logins`."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def end_tokens(self, tx: Tx, user_id: str) -> None:
        """The tokens that the dashboard has are used for nobody who is not signed in; no other left it."""

    def remove(self, user_id: str) -> None:
        """Remove the external user. Raises :class:`webapp.errors.PatchbayError` while the service does not answer."""
        try:
            self._client.as_project("DELETE", self._client.path("users", user_id))
        except NotFound:
            return
