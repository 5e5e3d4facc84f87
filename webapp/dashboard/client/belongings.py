"""Removes the data of users from a remote Connect service, which stores it by user id."""

from webapp.dashboard.client.connect import ConnectClient
from webapp.errors import NotFound
from webapp.store.contract import Tx


class RemoteBelongings:
    """The data of users in a remote service, for :class:`webapp.people.logins.Logins`."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def end_tokens(self, tx: Tx, user_id: str) -> None:
        """Does nothing: the dashboard uses its tokens only for signed-in users, and never gives them away."""

    def remove(self, user_id: str) -> None:
        """Remove the external user. Raises :class:`webapp.errors.PatchbayError` while the service does not respond."""
        try:
            self._client.as_project("DELETE", self._client.path("users", user_id))
        except NotFound:
            return
