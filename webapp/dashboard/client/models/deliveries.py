"""Deliveries of a trigger and what became of them in a day, as the Connect API tells them (contract "Extensions").

Times are integer epoch milliseconds, on the wire too.
"""

from typing import Any

from pydantic import AliasPath, Field

from webapp.dashboard.client.models.destinations import Endpoint
from webapp.dashboard.client.models.lenient import Lenient, NonEmpty


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
    """An event on its way to one address; its request and attempts are told of a single one.

    ``status`` is ``waiting``, ``delivered`` or ``failed``.
    """

    id: str = ""
    event_id: str = ""
    url: str = ""
    status: NonEmpty = "waiting"
    attempt: int = 0
    created_at: int | None = None
    next_at: int | None = Field(default=None, alias="next_attempt_at")
    put_off: bool = False
    code: int | None = Field(default=None, alias="response_status")
    error: str = ""
    took_ms: int | None = None
    summary: str = ""
    request_headers: dict[str, Any] = Field(default={}, validation_alias=AliasPath("request", "headers"))
    request_body: str = Field(default="", validation_alias=AliasPath("request", "body"))
    attempts: tuple[Attempt, ...] = ()

    @property
    def host(self) -> str:
        """Where it goes, in short."""
        return self.url.split("/")[2] if "//" in self.url else self.url

    @property
    def retrying(self) -> bool:
        """Whether it was tried without success and will be tried again."""
        return self.status == "waiting" and self.attempt > 0


class Hour(Lenient):
    """What became of one hour's deliveries."""

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
