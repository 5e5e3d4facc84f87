"""Named preset values for an app's fields over the API (contract "App overrides")."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty, PageOf
from webapp.errors import Forbidden, NotFound

MOST = 100
_NOUN = "app_overrides"


class AppOverride(Lenient):
    """An override; ``values`` are by the names of the app's fields."""

    id: NonEmpty
    name: str = ""
    app: App = Field(default_factory=App)
    oauth_app_id: str = ""
    values: Mapping[str, str] = Field(default_factory=dict, alias="cfmap")


class AppOverrides:
    """The overrides of one project. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self) -> PageOf[AppOverride] | None:
        """The oldest hundred; ``None`` where the dashboard's own client may not."""
        try:
            answer = self._client.as_project("GET", self._client.path(_NOUN), params={"limit": MOST})
        except (NotFound, Forbidden):
            return None
        return read(PageOf[AppOverride], answer)

    def get(self, override_id: str) -> AppOverride:
        """One of them. Raises :class:`NotFound`."""
        return self._ask("GET", override_id)

    def create(self, app: str, values: Mapping[str, Any]) -> AppOverride:
        """Make one for ``app`` (a slug). Raises :class:`webapp.errors.Invalid`, :class:`webapp.errors.Conflict`."""
        return self._ask("POST", body={"app": app, **values})

    def change(self, override_id: str, values: Mapping[str, Any]) -> AppOverride:
        """Make one what ``values`` say. Raises like :meth:`create`."""
        return self._ask("PUT", override_id, body=values)

    def delete(self, override_id: str) -> None:
        """Delete one."""
        self._client.as_project("DELETE", self._client.path(_NOUN, override_id))

    def _ask(self, method: str, *path: str, **call: Any) -> AppOverride:
        return read(AppOverride, self._client.as_project(method, self._client.path(_NOUN, *path), **call))
