"""Webhooks for account events, the project's own webhook, and the key that signs what they get."""

from typing import Any
from urllib.parse import quote

from pydantic import Field

from webapp.dashboard.client.connect import ConnectClient, object_of
from webapp.dashboard.client.models.deliveries import Endpoint, EndpointWithStatistics
from webapp.dashboard.client.models.lenient import Lenient
from webapp.errors import Forbidden, NotFound

_PATH = "/v1/webhooks"


class GeneralWebhook(EndpointWithStatistics):
    """A webhook of the workspace, or of one project."""

    name: str = ""
    project_id: str | None = None


class _Webhooks(Lenient):
    webhooks: tuple[GeneralWebhook, ...] = Field(default=(), alias="data")


class Webhooks:
    """What Build does with webhooks. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def general(self) -> tuple[GeneralWebhook, ...] | None:
        """Every general webhook, oldest first; ``None`` where the service does not list them (an extension)."""
        try:
            return _Webhooks.model_validate(object_of(self._client.as_project("GET", _PATH))).webhooks
        except (NotFound, Forbidden):
            return None

    def get(self, webhook_id: str) -> GeneralWebhook:
        """One of them. Raises :class:`NotFound`."""
        for webhook in self.general() or ():
            if webhook.id == webhook_id:
                return webhook
        raise NotFound("There is no such webhook.")

    def add(self, url: str, name: str) -> None:
        """``POST /v1/webhooks`` (section 4.16), for every project."""
        self._client.as_project("POST", _PATH, params={"url": url, "name": name, "description": name})

    def remove(self, webhook_id: str) -> None:
        """``DELETE /v1/webhooks/{id}`` (an extension)."""
        self._client.as_project("DELETE", _below(webhook_id))

    def reset(self, webhook_id: str) -> None:
        """``POST …/reset_delivery_state`` (an extension)."""
        self._client.as_project("POST", f"{_below(webhook_id)}/reset_delivery_state")

    def test(self, webhook_id: str) -> None:
        """``POST …/test_event`` (an extension)."""
        self._client.as_project("POST", f"{_below(webhook_id)}/test_event")

    def of_project(self) -> Endpoint | None:
        """The webhook of the project's environment, if it has one that the dashboard's own client may see."""
        try:
            data = self._ask("GET", "webhook", params={"extensions": True})
        except (NotFound, Forbidden):
            return None
        return Endpoint.model_validate(data) if data else None

    def set_of_project(self, url: str) -> None:
        """Make it, or give it another address; the same one begins anew."""
        self._ask("PUT", "webhook", body={"url": url})

    def remove_of_project(self) -> None:
        """Have the project without one."""
        self._client.as_project("DELETE", self._client.path("webhook"))

    def signing_key(self) -> str | None:
        """The environment's signing key (an extension); ``None`` where it is not shown."""
        try:
            return str(self._ask("GET", "webhook", "signing_key").get("signing_key", ""))
        except (NotFound, Forbidden):
            return None

    def rotate_key(self) -> str:
        """A new signing key in its place."""
        return str(self._ask("POST", "webhook", "regenerate_signing_key").get("signing_key", ""))

    def _ask(self, method: str, *parts: str, **call: Any) -> Any:
        return object_of(self._client.as_project(method, self._client.path(*parts), **call)).get("data") or {}


def _below(webhook_id: str) -> str:
    return f"{_PATH}/{quote(webhook_id, safe='')}"
