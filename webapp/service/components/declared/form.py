"""The form of a declared component: the models of ``actions/<name>.toml`` and ``triggers/<name>.toml``.

First what all models are made of, then requests, lists, options and steps, then actions, then triggers: those that poll
a list, those with a webhook of their own, and those that get an app's events at the one address of its OAuth client.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    model_validator,
)

from webapp.service.components.declared import patterns
from webapp.service.components.declared.templates import parse, texts_in
from webapp.service.components.props import PropType
from webapp.service.outbound.client import header_refusal

BEFORE = (
    "$account",
    "$label",
    "$fields",
    "$steps",
    "$values",
    "$query",
    "$since",
    "$endpoint",
    "$secret",
    "$hook",
    "$event",
    "$until",
    "$channel",
)
OF_TRIGGERS = ("$since", "$endpoint", "$secret", "$hook", "$event", "$until", "$channel")
Hints = Literal["creates", "deletes", "overwrites", "reads", "sets", "spends"]
EXAMPLES = 5
MAKE = "make"
TOLERANCE_S = 300


"""What actions do not have."""
AFTER = (*BEFORE, "$answer", "$items", "$file")
EACH = (*AFTER, "$item", "$value")


class Facts(BaseModel):
    """Facts that were read once and never change; a key that is not declared here is a mistake."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


def _checked(allowed: tuple[str, ...]) -> Callable[[Any, ValidationInfo], Any]:
    def check(value: Any, info: ValidationInfo) -> Any:
        context = info.context or {}
        props = context.get("props", ())
        names = tuple(name for name in allowed if name not in context.get("without", ()))
        for text in texts_in(value):
            for root in parse(text).roots:
                if root not in names and root not in props:
                    raise ValueError(f"{{{root}}} is not known here; there are {', '.join((*props, *names))}")
        return value

    return check


Asking = Annotated[str, AfterValidator(_checked(BEFORE))]
AskingAll = Annotated[Any, AfterValidator(_checked(BEFORE))]
Answered = Annotated[str, AfterValidator(_checked(AFTER))]
AnsweredAll = Annotated[Any, AfterValidator(_checked(AFTER))]
OfEach = Annotated[str, AfterValidator(_checked(EACH))]
OfEachAll = Annotated[Any, AfterValidator(_checked(EACH))]
Params = Annotated[dict[str, Any], AfterValidator(_checked(BEFORE))]


EachParams = Annotated[dict[str, Any], AfterValidator(_checked(EACH))]
AnsweredFields = Annotated[dict[str, Any], AfterValidator(_checked(AFTER))]


def _sendable(headers: dict[str, Any]) -> dict[str, Any]:
    for name in headers:
        if refusal := header_refusal(name, ""):
            raise ValueError(refusal.sentence.removesuffix("."))
    return headers


_WITHOUT_BODY = ("GET", "HEAD")
SEVERAL = BeforeValidator(lambda url: url if isinstance(url, list) else [url])
Addresses = Annotated[tuple[Asking, ...], SEVERAL]
Headers = Annotated[Params, AfterValidator(_sendable)]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class Pages(Facts):
    """How the rest of a list is asked for, after its first page, until ``most`` items or ``cap`` pages are there.

    ``cursor``: ``param`` is sent with what stands at ``next`` of the answer, or at ``last`` of its last item ·
    ``page``: with the number of the page, from ``start`` on · ``offset``: with how many items are there already ·
    ``link``: the address in the header ``Link`` with rel="next" (RFC 8288) · ``url``: the address at ``next``.
    There is no further page where the member at ``more`` is not true. ``size`` is sent as ``size_param``, or ``least``
    where fewer are wanted than the app takes. ``partial``: what came stands where the app refuses a further page.
    """

    by: Literal["cursor", "page", "offset", "link", "url"]
    param: str = ""
    next: str = ""
    last: str = ""
    more: str = ""
    start: int = 1
    size_param: str = ""
    size: int = Field(default=100, ge=1, le=10_000)
    least: int = Field(default=1, ge=1, le=10_000)
    most: int | Asking = 1000
    cap: int = Field(default=50, ge=1, le=200)
    place: Literal["params", "json", "form"] = "params"
    partial: bool = False

    @model_validator(mode="after")
    def _complete(self) -> "Pages":
        if self.by in ("cursor", "page", "offset") and not self.param:
            raise ValueError(f"pages by {self.by} need param, the name under which it is sent")
        if self.by == "cursor" and not (self.next or self.last):
            raise ValueError("pages by cursor need next or last, the path of the cursor")
        if self.by == "url" and not self.next:
            raise ValueError("pages by url need next, the path of the address")
        return self


class Instead(Facts):
    """How a request is sent once more where the app refuses it with ``code``: with ``fields`` over its own in
    ``place``, unless they come to nothing."""

    code: Annotated[str, Field(min_length=1)]
    place: Literal["params", "json", "form"] = "params"
    fields: AnsweredFields


class Request(Facts):
    """One request. ``url`` follows the app's base URL where it begins with ``/``; what a hole in it holds is encoded.

    ``url`` may be several, of which the first counts whose holes all have a value.
    At most one of ``json``, ``form``, ``multipart``, ``text`` and ``file`` is the body; what comes to nothing is left
    out of it, of ``params`` and of ``headers``. ``allow`` are statuses that count as success, and ``instead`` says how
    the request is sent again where the app refuses it. With ``answer = "xml"``, what the root of an answer holds is
    looked at as if it were JSON.
    """

    method: Method = "GET"
    url: Addresses
    params: Params = Field(default_factory=dict)
    headers: Headers = Field(default_factory=dict)
    json_: AskingAll = Field(default=None, alias="json")
    form: Params | None = None
    multipart: Params | None = None
    text: Asking | None = None
    file: Asking | None = None
    allow: tuple[int, ...] = ()
    instead: Instead | None = None
    answer: Literal["json", "xml"] = "json"

    @model_validator(mode="after")
    def _one_body(self) -> "Request":
        bodies = [self.json_, self.form, self.multipart, self.text, self.file]
        if sum(body is not None for body in bodies) > 1:
            raise ValueError("a request has one body: json, form, multipart, text or file")
        if self.method in _WITHOUT_BODY and any(body is not None for body in bodies):
            raise ValueError(f"{self.method} has no body; use params")
        return self


class Step(Request):
    """A request before the main one, only where ``only_if`` is not empty; ``{$steps.name}`` is its ``result``."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    only_if: Asking | None = None
    result: AnsweredAll = "{$answer}"


class After(Step):
    """A step behind a page of options, whose condition may look at its ``$items``."""

    only_if: Answered | None = None


class Listing(Request):
    """A request whose answer holds a list at ``items``, a path or a template; ``where`` keeps those whose members are
    as it says."""

    items: Answered = ""
    where: Params = Field(default_factory=dict)
    sort: str = ""
    pages: Pages | None = None

    @model_validator(mode="after")
    def _pages_have_a_place(self) -> "Listing":
        place = self.pages.place if self.pages else "params"
        others = [self.form, self.multipart, self.text, self.file]
        if place == "json" and (self.method in _WITHOUT_BODY or any(body is not None for body in others)):
            raise ValueError('pages with place = "json" need a request whose body is json')
        if place == "form" and self.form is None:
            raise ValueError('pages with place = "form" need a request whose body is a form')
        return self


class Lookup(Listing):
    """What a prop offers. ``steps`` come before it, those of ``after`` behind each page that makes them necessary.

    Without ``label``, texts are offered as they are. Where the prop has ``use_query`` and no template looks at
    ``$query``, the labels are searched here.
    """

    label: OfEach | None = None
    value: OfEach
    steps: tuple[Step, ...] = ()
    after: tuple[After, ...] = ()


class Kind(Facts):
    """A prop for a field of one type; ``write`` is its value as the app takes it, ``pattern`` what a text has to match,
    else ``advice`` is said."""

    type: PropType = "string"
    label: OfEach = ""
    description: OfEach = ""
    optional: OfEach | bool = True
    options: OfEach | None = None
    option_label: str = ""
    option_value: str = ""
    default: OfEachAll = None
    write: OfEachAll = None
    pattern: str | None = None
    advice: str = ""

    @model_validator(mode="after")
    def _advised(self) -> "Kind":
        patterns.check(self.pattern, self.advice)
        return self


class Reload(Listing):
    """Props that follow from a request: one for each item, named ``name``, by its ``kind`` of ``kinds`` (``*`` is any).

    ``{$fields}`` is what was given for them, by ``key``. Nothing is added while a prop that the address needs is empty.
    ``steps`` come before it.
    """

    name: OfEach
    key: OfEach
    kind: OfEach = ""
    kinds: dict[str, Kind]
    steps: tuple[Step, ...] = ()


class Option(Facts):
    """One thing to choose."""

    label: str
    value: str | int | bool


def _form_of(value: Any) -> str:
    return "(list)" if isinstance(value, list | tuple) else "(request)"


Listed = Annotated[tuple[Option | str | int, ...], Tag("(list)")]
Options = Annotated[Listed | Annotated[Lookup, Tag("(request)")], Discriminator(_form_of)]


class PropForm(Facts):
    """A prop, of any type that the contract knows. ``pattern`` is what a text has to match as a whole, else ``advice``
    is said. ``aliases`` are other names under which its value may be sent."""

    type: PropType
    label: str = ""
    description: str = ""
    optional: bool = False
    disabled: bool = False
    read_only: bool = False
    hidden: bool = False
    reload_props: bool = False
    use_query: bool = False
    with_label: bool = False
    secret: bool = False
    format: str | None = None
    min: int | None = None
    max: int | None = None
    default: Any = None
    options: Options | None = None
    pattern: str | None = None
    advice: str = ""
    aliases: tuple[str, ...] = ()
    app: str | None = None
    content: str | None = None
    alert_type: Literal["info", "neutral", "warning", "error"] | None = None
    app_prop: str | None = None
    base_prop: str | None = None
    table_prop: str | None = None
    event_names: tuple[str, ...] | None = None
    custom_response: bool | None = None
    access_mode: Literal["read", "write", "read-write"] | None = None
    sync: bool | None = None
    static: Any = None
    choices: tuple[Any, ...] | None = None

    @model_validator(mode="after")
    def _advised(self) -> "PropForm":
        patterns.check(self.pattern, self.advice)
        return self


class Failing(Facts):
    """An error in an answer with a good status: the member at ``path`` is ``equals``, or is ``present`` at all."""

    path: str
    equals: Any = False
    present: bool = False


def _listed(failing: Any) -> Any:
    return [failing] if isinstance(failing, Mapping) else failing


class Errors(Facts):
    """How the app tells errors: ``message`` is the path of its own words, ``code`` that of a word for programs.

    ``failing`` may be several, of which one is enough. ``words`` are sentences by that code or by status; ``other`` is
    for the rest.
    """

    message: str = ""
    code: str = ""
    failing: Annotated[tuple[Failing, ...], BeforeValidator(_listed)] = ()
    words: dict[str, Answered] = Field(default_factory=dict)
    other: Answered | None = None


class Refuse(Facts):
    """A reason to go no further: where ``only_if`` is not empty, ``words`` are said instead of a request."""

    only_if: Asking
    words: Asking


class ComponentForm(Facts):
    """What actions and triggers share. ``aliases`` are other names of the file, under which it is called, too."""

    name: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
    description: Annotated[str, Field(min_length=1)]
    aliases: tuple[str, ...] = ()
    props: dict[str, PropForm] = Field(default_factory=dict)
    reload: Reload | None = None
    errors: Errors | None = None


class ActionForm(ComponentForm):
    """An action: ``steps``, then one ``request``. Without ``result`` that is the answer, or all items of its pages.

    ``values`` are named values between the two, each of which may look at those before it as ``$values``.

    ``hints`` names what running it means; ``annotations`` say otherwise of one of them. ``file`` names the file that
    the answer is kept as. ``each`` is what stands for each ``$item`` of a list in what is returned.
    """

    hints: Hints
    annotations: Mapping[str, bool] = Field(default_factory=dict)
    summary: Answered
    steps: tuple[Step, ...] = ()
    values: Params = Field(default_factory=dict)
    refuse: tuple[Refuse, ...] = ()
    request: Listing
    file: Asking | None = None
    each: OfEachAll = None
    result: AnsweredAll = None
    exports: AnsweredFields = Field(default_factory=dict)


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
