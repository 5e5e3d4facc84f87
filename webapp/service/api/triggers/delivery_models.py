"""What the API answers about deliveries: one, every attempt at it, and how many there were."""

from typing import Any, Literal

from pydantic import Field

from webapp.service.api.base.models import Answer, Milliseconds

Status = Literal["waiting", "delivered", "failed"]


class Delivery(Answer):
    """An event on its way to one address."""

    id: str = Field(examples=["dlv_5Ua8Hc"])
    event_id: str = Field(examples=["evt_0Bz4Qr"])
    webhook_id: str | None = Field(examples=["wh_2Sd7Kj"])
    url: str | None = Field(description="Where it goes, as far as the host.", examples=["https://app.example.com/…"])
    status: Status
    attempt: int = Field(examples=[1])
    created_at: Milliseconds
    next_attempt_at: Milliseconds | None
    put_off: bool = Field(description="It waits until its webhook answers again, or is switched on.")
    last_attempt_at: Milliseconds | None
    response_status: int | None = Field(examples=[200])
    error: str | None = Field(examples=[None])
    took_ms: int | None
    summary: str | None = Field(examples=["Created issue 42"])


class SentRequest(Answer):
    """The request as the last attempt sent it."""

    url: str | None = Field(description="Where it goes, as far as the host.", examples=["https://app.example.com/…"])
    headers: dict[str, str]
    body: str


class Attempt(Answer):
    """One attempt at a delivery, with what was answered."""

    n: int = Field(examples=[1])
    at: Milliseconds
    took_ms: int | None
    response_status: int | None = Field(examples=[200])
    error: str | None = Field(examples=[None])
    failure: str | None = Field(None, description="What kind of failure it was, where no answer came.", examples=[None])
    response_headers: Any = Field(examples=[{}])
    response_body: str | None


class DeliveryDetails(Delivery):
    """A delivery with its request and every attempt."""

    request: SentRequest
    attempts: list[Attempt]


class Count(Answer):
    """How many deliveries are sent again, or would be."""

    count: int = Field(examples=[3])


class Hour(Answer):
    """What became of the deliveries of one hour."""

    start: Milliseconds
    waiting: int
    delivered: int
    failed: int


class Stats(Answer):
    """The last 24 hours."""

    hours: list[Hour]
    waiting: int
    delivered: int
    failed: int
    events: int
    last_event_at: Milliseconds | None
    last_error: str | None = Field(examples=[None])
