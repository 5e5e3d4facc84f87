"""The models of a declared trigger: one that polls a list, at its times or as soon as its app says that something is
new; one that is told by a webhook of its app; or one that hears what its app tells to the one address of an OAuth
client.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from webapp.service.components.declared.facts import (
    Answered,
    AnsweredAll,
    Asking,
    AskingAll,
    EachParams,
    Facts,
    OfEach,
    OfEachAll,
    Params,
)
from webapp.service.components.declared.form import ComponentForm
from webapp.service.components.declared.request_form import SEVERAL, Listing, Request, Step

EXAMPLES = 5
MAKE = "make"
TOLERANCE_S = 300
"""How old a signed time may be: what Slack and Stripe recommend."""


class Sync(Facts):
    """How an app tells what changed since the look before: by a token that stands at ``next`` of the last page of a
    list, and is sent as ``param``, with ``params`` in place of the list's own.

    The first token is that of the whole list, asked for with ``start``. Where the app refuses a token with a status of
    ``gone``, the list itself is looked at, which tells what changed lately, and another token is asked for.
    ``{$since}`` is the time of the look before, ``days`` ago at most, and at the first look. With ``new``, the time at
    which an item was made, what was made before that is left out.
    """

    param: str
    next: str
    params: Params = Field(default_factory=dict)
    start: Params = Field(default_factory=dict)
    gone: tuple[int, ...] = (410,)
    days: int = Field(default=14, ge=1, le=365)
    new: OfEach = ""


class Poll(Listing):
    """A list to look at on each tick. Of what is there at the first look, the ``first`` newest are emitted as examples.

    ``{$since}`` is the time of the newest that was seen. ``order`` says how the list comes. ``steps`` come before it.
    With ``sync``, the app tells what changed.
    """

    steps: tuple[Step, ...] = ()

    sync: Sync | None = None
    order: Literal["newest", "oldest"] = "newest"
    first: int = Field(default=EXAMPLES, ge=0, le=100)


class Signature(Facts):
    """How the app signs what it sends: in ``header``, by an HMAC over ``signed``, or by the secret itself (token).

    ``by`` is who signs, as the log calls it. ``{$body}`` are the bytes that came, as text, ``{$method}`` and ``{$url}``
    those of the request, at our public address, and ``{$time}`` the signed time: from ``time_header``, or from the path
    ``time_member`` of the body, in seconds or milliseconds since 1970. With ``pairs`` the header holds
    ``t=<time>,v1=<signature>``, of which one has to fit.
    """

    header: str
    by: str = "the app"
    scheme: Literal["hmac-sha256", "hmac-sha1", "token"] = "hmac-sha256"
    prefix: str = ""
    encoding: Literal["hex", "base64"] = "hex"
    signed: Annotated[str, Field(pattern=r"\{\$body\}")] = "{$body}"
    time_header: str = ""
    time_member: str = ""
    time_unit: Literal["s", "ms"] = "s"
    pairs: bool = False
    tolerance: int = Field(default=TOLERANCE_S, ge=1, le=86_400)


class Detail(Step):
    """A request for what is not told of a thing, perhaps of an ``$item``. Where its result comes to nothing, or a
    member of that is not as ``where`` says, the thing is not emitted."""

    url: Annotated[tuple[OfEach, ...], SEVERAL]
    params: EachParams = Field(default_factory=dict)
    where: Params = Field(default_factory=dict)


class Challenge(Facts):
    """How the app asks whether the address is ours: a request of which ``only_if`` comes to something is answered with
    ``answer``, a text as it is and anything else as JSON, and with ``headers``.

    It may bring the ``secret`` that signs from then on, which is kept as long as the webhook stands: another one is
    refused.
    """

    only_if: Asking
    answer: AskingAll = ""
    headers: Params = Field(default_factory=dict)
    secret: Asking = ""


class Subscription(Facts):
    """What is made at the app by ``subscribe``, whose answer gives its ``id``, and taken back by ``unsubscribe``.

    ``secret`` is what both share: ``make`` for a random one of ours, or a template. ``steps`` come before
    ``subscribe``. One that ends by itself ``lasts`` so many seconds: until ``{$until}``, or as the answer has it at
    ``ends``. It is renewed before that: by ``renew``, or without it by a new one in its place. ``{$channel}`` is a new
    random id for each.
    """

    steps: tuple[Step, ...] = ()
    subscribe: Request
    unsubscribe: Request
    renew: Request | None = None
    lasts: int | None = Field(default=None, ge=60, le=31_536_000)
    ends: Answered = ""
    id: AnsweredAll = "{$answer.id}"
    secret: Answered = MAKE
    challenge: Challenge | None = None

    @property
    def is_told_secret(self) -> bool:
        """Whether the app makes the secret, and brings it with its challenge."""
        return self.challenge is not None and self.challenge.secret != ""

    @model_validator(mode="after")
    def _renewed_in_time(self) -> "Subscription":
        if self.lasts is None and (self.renew is not None or self.ends):
            raise ValueError("renew and ends need lasts, the seconds for which it stands")
        return self


class Webhook(Subscription):
    """A webhook at the app. Requests that come are ignored unless they bear the ``signature`` and ``accept`` holds:
    members of the request by their paths.

    Of a request that tells several things, ``items`` is the list; each is emitted, with its ``details``. A
    ``challenge`` and all else is answered here, where the prop for requests has ``custom_response``.
    """

    items: Asking = ""
    details: tuple[Detail, ...] = ()
    signature: Signature | None = None
    accept: dict[str, AskingAll] = Field(default_factory=dict)


class Push(Subscription):
    """What an app tells so that its list is looked at at once, and not at the next time alone.

    A request counts whose ``token`` is the secret; one that tells several things is the list ``items``, each with a
    ``token`` of its own. What is ``ignore_if`` comes to nothing, and ``renew_if`` says that the subscription needs to
    be renewed. A ``challenge`` is answered. ``values`` are named values for its requests.
    """

    lasts: int = Field(ge=60, le=31_536_000)
    values: dict[str, AskingAll] = Field(default_factory=dict)
    items: Asking = ""
    token: OfEach
    ignore_if: OfEach = ""
    renew_if: OfEach = ""

    @model_validator(mode="after")
    def _answers_in_words(self) -> "Push":
        if self.challenge is not None and (self.challenge.secret or self.challenge.headers):
            raise ValueError("a push answers a challenge with a text, and has a secret of its own")
        return self


class AppHook(Facts):
    """Events of these names that the app tells to the one address of an OAuth client; all, without names.

    They were verified before, and the account may see them. Those of which ``accept`` does not hold are ignored:
    members of the request by their paths. ``details`` say more of the others.
    """

    events: tuple[str, ...] = ()
    accept: dict[str, AskingAll] = Field(default_factory=dict)
    details: tuple[Detail, ...] = ()


class TriggerForm(ComponentForm):
    """A trigger, by ``poll``, ``webhook`` or ``apphook``; one that polls may have a ``push``.

    Each event has an ``id``, a ``summary`` and perhaps a ``time``. ``event`` is what is emitted: the item, or the body
    of the request. ``dedupe`` says which ids count.
    """

    dedupe: Literal["unique", "greatest", "last"] | None = "unique"
    id: OfEach
    summary: OfEach
    time: OfEach | None = None
    event: OfEachAll = None
    poll: Poll | None = None
    push: Push | None = None
    webhook: Webhook | None = None
    apphook: AppHook | None = None

    @property
    def answers(self) -> bool:
        """Whether it answers the requests itself that set it off."""
        return any(prop.custom_response for prop in self.props.values())

    @property
    def subscription(self) -> Subscription | None:
        """What it makes at its app."""
        return self.webhook or self.push

    @model_validator(mode="after")
    def _one_way(self) -> "TriggerForm":
        if [self.poll, self.webhook, self.apphook].count(None) != 2:
            raise ValueError("a trigger has either [poll], [webhook] or [apphook]")
        if self.push is not None and self.poll is None:
            raise ValueError("[push] says when [poll] looks, so the two belong together")
        return self
