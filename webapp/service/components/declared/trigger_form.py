"""The models of a declared trigger: one that polls a list, or one that is told by a webhook of its app."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from webapp.service.components.declared.facts import Answered, AnsweredAll, AskingAll, Facts, OfEach, OfEachAll
from webapp.service.components.declared.form import ComponentForm
from webapp.service.components.declared.request_form import Listing, Request

EXAMPLES = 5
MAKE = "make"
TOLERANCE_S = 300
"""How old a signed time may be: what Slack and Stripe recommend."""


class Poll(Listing):
    """A list to look at on each tick. Of what is there at the first look, the ``first`` newest are emitted as examples.

    ``{$since}`` is the time of the newest that was seen. ``order`` says how the list comes.
    """

    order: Literal["newest", "oldest"] = "newest"
    first: int = Field(default=EXAMPLES, ge=0, le=100)


class Signature(Facts):
    """How the app signs what it sends: in ``header``, by HMAC-SHA256 over ``signed``, or by the secret itself (token).

    ``by`` is who signs, as the log calls it. ``{$body}`` are the bytes that came, as text, ``{$time}`` the signed time
    in epoch seconds, from ``time_header``. With ``pairs`` the header holds ``t=<time>,v1=<signature>``, of which one
    has to fit.
    """

    header: str
    by: str = "the app"
    scheme: Literal["hmac-sha256", "token"] = "hmac-sha256"
    prefix: str = ""
    encoding: Literal["hex", "base64"] = "hex"
    signed: Annotated[str, Field(pattern=r"\{\$body\}")] = "{$body}"
    time_header: str = ""
    pairs: bool = False
    tolerance: int = Field(default=TOLERANCE_S, ge=1, le=86_400)


class Webhook(Facts):
    """A webhook at the app: made by ``subscribe``, whose answer gives its ``id``, and taken back by ``unsubscribe``.

    ``secret`` is what both share: ``make`` for a random one of ours, or a template. Requests that come are ignored
    unless they bear the ``signature`` and ``accept`` holds: members of the request by their paths. With ``renew``,
    a request that is sent on each tick of its timer, the webhook lives on.
    """

    subscribe: Request
    unsubscribe: Request
    renew: Request | None = None
    id: AnsweredAll = "{$answer.id}"
    secret: Answered = MAKE
    signature: Signature | None = None
    accept: dict[str, AskingAll] = Field(default_factory=dict)


class TriggerForm(ComponentForm):
    """A trigger, by ``poll`` or by ``webhook``. Each event has an ``id``, a ``summary`` and perhaps a ``time``.

    ``event`` is what is emitted: the item, or the body of the request. ``dedupe`` says which ids count.
    """

    dedupe: Literal["unique", "greatest", "last"] | None = "unique"
    id: OfEach
    summary: OfEach
    time: OfEach | None = None
    event: OfEachAll = None
    poll: Poll | None = None
    webhook: Webhook | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "TriggerForm":
        if (self.poll is None) == (self.webhook is None):
            raise ValueError("a trigger has either [poll] or [webhook]")
        return self
