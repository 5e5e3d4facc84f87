"""Workflows of the project over the API (extensions): named URLs that triggers send their events to."""

from webapp.dashboard.client.connect import ConnectClient, read
from webapp.dashboard.client.models.deliveries import EndpointWithStatistics
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty, PageOf
from webapp.errors import Forbidden, NotFound

MOST = 100


class NamedWorkflow(EndpointWithStatistics):
    """A workflow, how it does, and how many triggers use it. ``key`` is there when it was just made."""

    id: NonEmpty
    name: str = ""
    triggers: int = 0


class WorkflowTrigger(Lenient):
    """A trigger that uses one."""

    id: NonEmpty
    name: str = ""


class _Key(Lenient):
    signing_key: str = ""


class Workflows:
    """What the pages do with workflows. Whoever calls it has made sure that the person may."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    def list(self) -> PageOf[NamedWorkflow] | None:
        """The oldest hundred; ``None`` where the service has none."""
        try:
            answer = self._client.as_project("GET", self._path(), params={"limit": MOST})
        except (NotFound, Forbidden):
            return None
        return read(PageOf[NamedWorkflow], answer)

    def get(self, workflow_id: str) -> NamedWorkflow:
        """One of them. Raises :class:`NotFound`."""
        return read(NamedWorkflow, self._client.as_project("GET", self._path(workflow_id)))

    def key(self, workflow_id: str) -> str:
        """Its signing key."""
        return read(_Key, self._client.as_project("GET", self._path(workflow_id, "signing_key"))).signing_key

    def create(self, name: str, url: str) -> NamedWorkflow:
        """A new one, with its key. Raises :class:`webapp.errors.Invalid`."""
        return read(NamedWorkflow, self._client.as_project("POST", self._path(), body={"name": name, "url": url}))

    def change(self, workflow_id: str, name: str, url: str) -> None:
        """Give it this name and URL. Raises :class:`webapp.errors.Invalid`."""
        self._client.as_project("PATCH", self._path(workflow_id), body={"name": name, "url": url})

    def remove(self, workflow_id: str) -> None:
        """Remove it from the project and its triggers."""
        self._client.as_project("DELETE", self._path(workflow_id))

    def rotate_key(self, workflow_id: str) -> NamedWorkflow:
        """The workflow, with the new key."""
        return read(NamedWorkflow, self._client.as_project("POST", self._path(workflow_id, "regenerate_signing_key")))

    def reset(self, workflow_id: str) -> None:
        """Begin anew with one that failed."""
        self._client.as_project("POST", self._path(workflow_id, "reset_delivery_state"))

    def triggers(self, workflow_id: str) -> tuple[WorkflowTrigger, ...]:
        """The triggers that use it, of every user."""
        return read(PageOf[WorkflowTrigger], self._client.as_project("GET", self._path(workflow_id, "triggers"))).items

    def _path(self, *parts: str) -> str:
        return self._client.path("workflows", *parts)
