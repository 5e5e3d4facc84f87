"""Deliveries of a trigger and what became of them in a day, as the Connect API tells them (WIRE, its extensions).

Reading is lenient like in :mod:`.accounts`. Times are integer epoch milliseconds, on the wire too.
"""

from dataclasses import dataclass

from webapp.dashboard.client.models import reading
from webapp.dashboard.client.models.reading import Json


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a delivery; ``error`` is a sentence when no answer came."""

    number: int
    at: int | None
    took_ms: int | None
    code: int | None
    error: str
    headers: tuple[tuple[str, str], ...]
    body: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event on its way to one address. ``status`` is ``waiting``, ``delivered`` or ``failed``."""

    id: str
    event_id: str
    url: str
    status: str
    attempt: int
    created_at: int | None
    next_at: int | None
    last_at: int | None
    code: int | None
    error: str
    took_ms: int | None
    summary: str
    request_headers: tuple[tuple[str, str], ...] = ()
    request_body: str = ""
    attempts: tuple[Attempt, ...] = ()

    @property
    def retrying(self) -> bool:
        """Whether it was tried without success and will be tried again."""
        return self.status == "waiting" and self.attempt > 0


@dataclass(frozen=True, slots=True)
class Hour:
    """What became of one hour's deliveries."""

    start: int
    delivered: int
    failed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Day:
    """The last 24 hours, oldest first."""

    hours: tuple[Hour, ...]
    delivered: int
    failed: int
    waiting: int
    events: int
    last_event_at: int | None

    @property
    def total(self) -> int:
        """All deliveries of the day."""
        return self.delivered + self.failed + self.waiting


def delivery(data: Json) -> Delivery:
    """An entry of ``…/deliveries``; with its request and attempts when it is the single one."""
    request = data.get("request")
    request = request if isinstance(request, dict) else {}
    return Delivery(
        id=reading.text(data, "id"),
        event_id=reading.text(data, "event_id"),
        url=reading.text(data, "url"),
        status=reading.text(data, "status") or "waiting",
        attempt=reading.number(data, "attempt") or 0,
        created_at=reading.number(data, "created_at"),
        next_at=reading.number(data, "next_attempt_at"),
        last_at=reading.number(data, "last_attempt_at"),
        code=reading.number(data, "response_status"),
        error=reading.text(data, "error"),
        took_ms=reading.number(data, "took_ms"),
        summary=reading.text(data, "summary"),
        request_headers=_headers(request.get("headers")),
        request_body=reading.text(request, "body"),
        attempts=tuple(_attempt(item) for item in reading.objects(data.get("attempts"))),
    )


def day(data: Json) -> Day:
    """The answer of ``…/stats``."""
    hours = tuple(
        Hour(
            reading.number(item, "start") or 0,
            *(reading.number(item, part) or 0 for part in ("delivered", "failed", "waiting")),
        )
        for item in reading.objects(data.get("hours"))
    )
    return Day(
        hours=hours,
        delivered=reading.number(data, "delivered") or 0,
        failed=reading.number(data, "failed") or 0,
        waiting=reading.number(data, "waiting") or 0,
        events=reading.number(data, "events") or 0,
        last_event_at=reading.number(data, "last_event_at"),
    )


def _attempt(data: Json) -> Attempt:
    return Attempt(
        number=reading.number(data, "n") or 0,
        at=reading.number(data, "at"),
        took_ms=reading.number(data, "took_ms"),
        code=reading.number(data, "response_status"),
        error=reading.text(data, "error"),
        headers=_headers(data.get("response_headers")),
        body=reading.text(data, "response_body"),
    )


def _headers(value: object) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(text)) for name, text in value.items()) if isinstance(value, dict) else ()
