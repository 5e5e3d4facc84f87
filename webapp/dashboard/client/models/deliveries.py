"""Where a trigger's events go, webhooks and workflows, and their deliveries, as the Connect API has them (contract
"Deployed triggers", "Extensions").

Times are integer epoch milliseconds; on the wire those of webhooks and workflows are seconds, those of deliveries
are not.
"""

from typing import Any, ClassVar

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
    has_statistics: ClassVar[bool] = False  # whether the service sends when it last succeeded

    @property
    def state(self) -> str:
        """How deliveries to it do."""
        state = super().state
        if state == "happy" and self.last_success_at is None:
            return "unknown" if self.last_error else "new" if self.has_statistics else state
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


class EndpointWithStatistics(Endpoint):
    """An endpoint with the time and the median duration of its last successes, and the time of its next attempt."""

    has_statistics: ClassVar[bool] = True


class Endpoints(Lenient):
    """The answer of ``…/webhooks``."""

    webhooks: tuple[Endpoint, ...] = ()


class Workflow(_Destination):
    """A workflow of the product that gets a trigger's events."""

    name: str = ""


class Workflows(Lenient):
    """The answer of ``…/pipelines``; without extensions it has only ids."""

    workflow_ids: tuple[str, ...] = ()
    workflows: tuple[Workflow, ...] = ()

    def known(self) -> list[Workflow]:
        """Every workflow, with its name and URL if the service sends them."""
        described = {workflow.id: workflow for workflow in self.workflows}
        return [described.get(workflow_id) or Workflow(id=workflow_id) for workflow_id in self.workflow_ids]


class Attempt(Lenient):
    """One try of a delivery; ``error`` is a sentence when no answer came."""

    number: int = Field(default=0, alias="n")
    at: int | None = None
    took_ms: int | None = None
    code: int | None = Field(default=None, alias="response_status")
    error: str = ""
    failure: str = ""
    headers: dict[str, Any] = Field(default={}, alias="response_headers")
    body: str = Field(default="", alias="response_body")

    @property
    def good(self) -> bool:
        """Whether it was accepted."""
        return self.code is not None and 200 <= self.code < 300


class Delivery(Lenient):
    """A delivery of an event to one address, whose URL is masked."""

    id: str = ""
    url: str = ""


class Hour(Lenient):
    """The outcomes of one hour's deliveries."""

    start: int = 0
    delivered: int = 0
    failed: int = 0
    waiting: int = 0


class Day(Lenient):
    """The last 24 hours, oldest first."""

    hours: tuple[Hour, ...] = ()
    delivered: int = 0
    failed: int = 0
    waiting: int = 0
    events: int = 0
    last_event_at: int | None = None

    @property
    def total(self) -> int:
        """All deliveries of the day."""
        return self.delivered + self.failed + self.waiting


class DayOf(Day):
    """The last 24 hours of one trigger of several, with its addresses that fail."""

    id: str = ""
    failing: tuple[Endpoint, ...] = ()
