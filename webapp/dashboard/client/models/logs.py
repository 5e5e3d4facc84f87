"""The logs, as the Connect API tells them (contract "Logs")."""

from pydantic import Field

from webapp.dashboard.client.models.deliveries import Attempt
from webapp.dashboard.client.models.lenient import Json, Lenient, NonEmpty


class LogEntry(Lenient):
    """One entry. ``at`` is ISO 8601; ``request``, ``response`` and ``attempts`` are those of one that was asked for."""

    kind: NonEmpty
    id: NonEmpty
    at: str = ""
    status: str = ""
    outcome: str = ""
    title: str = ""
    text: str = ""
    took_ms: int | None = None
    app: str = ""
    user: str = Field(default="", alias="external_user_id")
    agent: str = ""
    component_key: str = ""
    account_id: str = ""
    trigger_id: str = ""
    event_id: str = ""
    attempt: int = 0
    next_attempt_at: str = ""
    emitted: int | None = None
    request: Json = Field(default_factory=dict)
    response: Json = Field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    caller_type: str = ""
    caller: str = ""
    request_id: str = ""

    @property
    def of_trigger(self) -> bool:
        """Whether it is a run of a trigger rather than of an action."""
        return self.kind == "run" and self.emitted is not None

    @property
    def quiet(self) -> bool:
        """Whether it is a poll of a trigger that found nothing."""
        return self.of_trigger and self.status == "succeeded" and self.outcome == "timer" and not self.emitted


class LogPageInfo(Lenient):
    """The ends of a page: ``end_cursor`` is "" on the last one."""

    start_cursor: str = ""
    end_cursor: str = ""


class LogPage(Lenient):
    """A page of the logs, and if they were counted, how many entries of each kind there are; 50 means that or more.

    A service without logs lists only events, which are not ``filterable``.
    """

    data: tuple[LogEntry, ...] = ()
    page_info: LogPageInfo = Field(default_factory=LogPageInfo)
    counts: dict[str, int] = Field(default={})
    filterable: bool = True
