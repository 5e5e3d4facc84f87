"""Where a trigger's events go: webhooks and workflows, as the Connect API tells them (contract "Deployed triggers").

Times are integer epoch milliseconds; on the wire they are seconds.
"""

from typing import ClassVar

from pydantic import Field

from webapp.dashboard.client.models.lenient import Lenient, NonEmpty
from webapp.kit.clock import SECOND


class _DeliveryState(Lenient):
    state: NonEmpty = "happy"
    since: int | None = None
    last_error: str = ""
    consecutive_failures: int = 0


class _Destination(Lenient):
    """Where events go. ``state`` is ``happy``, ``penalty``, ``deactivated``, ``unknown`` (no server has its name yet)
    or ``new`` (nothing was sent there).

    One whose last delivery failed counts as in penalty from the first failure on: a person should see it at once.
    """

    id: str = ""
    active: bool = True
    delivery_state: _DeliveryState | None = None

    @property
    def _failed_lately(self) -> bool:
        state = self.delivery_state
        return state is not None and state.state == "happy" and state.consecutive_failures > 0

    @property
    def state(self) -> str:
        """How deliveries to it do."""
        if not self.active:
            return "deactivated"
        if self._failed_lately:
            return "penalty"
        return self.delivery_state.state if self.delivery_state else "happy"

    @property
    def failing(self) -> bool:
        """Whether a person should know."""
        return self.state in ("penalty", "deactivated")


class Endpoint(_Destination):
    """A webhook URL of a trigger (section 2.8)."""

    url: str = ""
    key: str = Field(default="", alias="signing_key")
    last_success_at: int | None = None
    median_ms: int | None = None
    next_at: int | None = Field(default=None, alias="next_attempt_at")
    of_late: ClassVar[bool] = False  # whether it is told how it has done

    @property
    def state(self) -> str:
        """How deliveries to it do."""
        state = super().state
        if state == "happy" and self.last_success_at is None:
            return "unknown" if self.last_error else "new" if self.of_late else state
        return state

    @property
    def since(self) -> int | None:
        """Since when it is in its state."""
        since = self.delivery_state.since if self.delivery_state else None
        return None if since is None or self._failed_lately else since * SECOND

    @property
    def last_error(self) -> str:
        """Why the last delivery failed."""
        return self.delivery_state.last_error if self.delivery_state else ""

    @property
    def host(self) -> str:
        """Where it is, in short."""
        return self.url.split("/")[2] if "//" in self.url else self.url

    @property
    def masked(self) -> str:
        """Its address for those who may not see the rest, which often holds a secret."""
        return f"{self.url.partition('://')[0]}://{self.host}/…"

    @property
    def short(self) -> str:
        """Its address without the scheme."""
        return self.url.partition("://")[2] or self.url


class EndpointOfLate(Endpoint):
    """The same with when something arrived last, how long that usually takes, and when it is tried next."""

    of_late: ClassVar[bool] = True


class Endpoints(Lenient):
    """The answer of ``…/webhooks``."""

    webhooks: tuple[Endpoint, ...] = ()


class Workflow(_Destination):
    """A workflow of the product that is told of a trigger's events."""

    name: str = ""


class Workflows(Lenient):
    """The answer of ``…/pipelines``; without extensions it has ids alone."""

    workflow_ids: tuple[str, ...] = ()
    workflows: tuple[Workflow, ...] = ()

    def known(self) -> list[Workflow]:
        """Every workflow, with what is told of it."""
        described = {workflow.id: workflow for workflow in self.workflows}
        return [described.get(workflow_id) or Workflow(id=workflow_id) for workflow_id in self.workflow_ids]
