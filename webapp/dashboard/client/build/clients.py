"""OAuth clients of the workspace over the API (extensions): listed, made, given another secret and deleted."""

from urllib.parse import quote

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty, PageOf
from webapp.errors import Forbidden, NotFound
from webapp.kit.clock import parse_iso

MOST = 100
_PATH = "/v1/oauth/clients"


class OAuthClient(Lenient):
    """A client; times are ISO 8601. ``secret`` is there when it was just made."""

    id: NonEmpty
    name: str = ""
    scope: str = ""
    project_id: str | None = None
    old_secret_ends_at: str = ""
    last_used_at: str = ""
    key_thumbprint: str = ""
    secret: str = Field(default="", alias="client_secret")

    @property
    def last_used(self) -> int | None:
        """When it called last, in epoch milliseconds."""
        return _milliseconds(self.last_used_at)

    @property
    def old_secret_ends(self) -> int | None:
        """Until when its old secret works, likewise."""
        return _milliseconds(self.old_secret_ends_at)

    @property
    def scopes(self) -> tuple[str, ...]:
        """What it may do."""
        return tuple(self.scope.split())


class Clients:
    """What Build does with OAuth clients. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self) -> PageOf[OAuthClient] | None:
        """The oldest hundred; ``None`` where the service has no such list, or none for the dashboard's own client."""
        try:
            answer = self._client.as_project("GET", _PATH, params={"limit": MOST})
        except (NotFound, Forbidden):
            return None
        return read(PageOf[OAuthClient], answer)

    def get(self, client_id: str) -> OAuthClient:
        """One of them. Raises :class:`NotFound`."""
        clients = self.list()
        for client in clients.items if clients else ():
            if client.id == client_id:
                return client
        raise NotFound("There is no such client.")

    def create(self, name: str, scope: str, project_id: str, public_key: str = "") -> OAuthClient:
        """A new client, with its secret unless it has a key; "" as project means all of them."""
        body = {"name": name, "scope": scope, "project_id": project_id or None, "public_key": public_key or None}
        return read(OAuthClient, self._client.as_project("POST", _PATH, body=body))

    def rotate(self, client_id: str, overlap_s: int) -> OAuthClient:
        """The client with a new secret; the old one works ``overlap_s`` seconds longer."""
        params = {"overlap_seconds": overlap_s}
        return read(OAuthClient, self._client.as_project("POST", f"{_below(client_id)}/rotate", params=params))

    def end_old_secret(self, client_id: str) -> None:
        """End the secret before the present one."""
        self._client.as_project("DELETE", f"{_below(client_id)}/old_secret")

    def delete(self, client_id: str) -> None:
        """Delete a client with its tokens."""
        self._client.as_project("DELETE", _below(client_id))


def _below(client_id: str) -> str:
    return f"{_PATH}/{quote(client_id, safe='')}"


def _milliseconds(text: str) -> int | None:
    try:
        return parse_iso(text) if text else None
    except ValueError:
        return None
