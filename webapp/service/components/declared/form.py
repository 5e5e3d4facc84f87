"""The models of ``actions/<name>.toml`` and ``triggers/<name>.toml``, the files of declared components.

Basic types come first, then requests, lists, options and steps, then actions, then triggers: those that poll a list,
those with a webhook of their own, and those that get an app's events at the one URL of its OAuth client.
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

from webapp.service.components import limits
from webapp.service.components.declared import patterns
from webapp.service.components.declared.templates import parse, texts_in
from webapp.service.components.props import PropType
from webapp.service.outbound.headers import header_refusal

REQUEST_NAMES = (
    "$account",
    "$label",
    "$now",
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
    "$outer",
)
TRIGGER_NAMES = ("$since", "$endpoint", "$secret", "$hook", "$event", "$until", "$channel", "$outer")  # not for actions
Hints = Literal["creates", "deletes", "overwrites", "reads", "sets", "spends"]
MAKE = "make"
TOLERANCE_S = 300  # the greatest age of a signed time, as Slack and Stripe recommend
ANSWER_NAMES = (*REQUEST_NAMES, "$answer", "$items", "$file")
ITEM_NAMES = (*ANSWER_NAMES, "$item", "$value")


class Facts(BaseModel):
    """The base of immutable models; unknown keys are errors."""

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


RequestTemplate = Annotated[str, AfterValidator(_checked(REQUEST_NAMES))]
RequestJson = Annotated[Any, AfterValidator(_checked(REQUEST_NAMES))]
AnswerTemplate = Annotated[str, AfterValidator(_checked(ANSWER_NAMES))]
AnswerJson = Annotated[Any, AfterValidator(_checked(ANSWER_NAMES))]
ItemTemplate = Annotated[str, AfterValidator(_checked(ITEM_NAMES))]
ItemJson = Annotated[Any, AfterValidator(_checked(ITEM_NAMES))]
Params = Annotated[dict[str, Any], AfterValidator(_checked(REQUEST_NAMES))]


ItemParams = Annotated[dict[str, Any], AfterValidator(_checked(ITEM_NAMES))]
AnswerFields = Annotated[dict[str, Any], AfterValidator(_checked(ANSWER_NAMES))]


def _valid_headers(headers: dict[str, Any]) -> dict[str, Any]:
    for name in headers:
        if refusal := header_refusal(name, ""):
            raise ValueError(refusal.sentence.removesuffix("."))
    return headers


_WITHOUT_BODY = ("GET", "HEAD")
SEVERAL = BeforeValidator(lambda url: url if isinstance(url, list) else [url])
Addresses = Annotated[tuple[RequestTemplate, ...], SEVERAL]
Headers = Annotated[Params, AfterValidator(_valid_headers)]
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]


class Pages(Facts):
    """How the pages of a list after the first are requested, up to ``most`` items or ``cap`` pages.

    ``cursor``: ``param`` is the member at ``next`` of the response, or at ``last`` of its last item · ``page``:
    ``param`` is the number of the page, from ``start`` · ``offset``: ``param`` is the number of items so far ·
    ``link``: the URL in the header ``Link`` with rel="next" (RFC 8288) · ``url``: the URL at ``next``. If the member at
    ``more`` is not true, there are no more pages. ``size`` is sent as ``size_param``, but never less than ``least``.
    With ``partial``, earlier pages are kept if the app refuses a later one.
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
    most: int | RequestTemplate = 1000
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
    """How a request is repeated if the app refuses it with ``code``: with ``fields`` added to its ``place``, unless
    they are empty."""

    code: Annotated[str, Field(min_length=1)]
    place: Literal["params", "json", "form"] = "params"
    fields: AnswerFields


class Request(Facts):
    """One request. A ``url`` that begins with ``/`` is relative to the app's base URL; values in it are
    percent-encoded.

    Of several URLs, the first is used whose placeholders all have a value. At most one of ``json``, ``form``,
    ``multipart``, ``text`` and ``file`` is the body; empty values are left out of it, of ``params`` and of ``headers``.
    ``needed`` are members of ``json`` that are sent as empty objects instead; with ``bare``, no body is sent if nothing
    is left of ``json``. ``allow`` are statuses that count as success, and ``instead`` says how a refused request is
    repeated. With ``answer = "xml"``, the content of the response's root element is read like JSON.
    """

    method: Method = "GET"
    url: Addresses
    params: Params = Field(default_factory=dict)
    headers: Headers = Field(default_factory=dict)
    json_: RequestJson = Field(default=None, alias="json")
    needed: tuple[str, ...] = ()
    bare: bool = False
    form: Params | None = None
    multipart: Params | None = None
    text: RequestTemplate | None = None
    file: RequestTemplate | None = None
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
    """A request before the main one, sent if ``only_if`` is not empty; ``{$steps.name}`` is its ``result``."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    only_if: RequestTemplate | None = None
    result: AnswerJson = "{$answer}"


class After(Step):
    """A step after a page of options, whose condition may use its ``$items``."""

    only_if: AnswerTemplate | None = None


class Listing(Request):
    """A request whose response has a list at ``items``, a path or a template; ``where`` filters it by members."""

    items: AnswerTemplate = ""
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
    """The request for the options of a prop. ``steps`` come before it, those of ``after`` follow each page that needs
    them.

    Without ``label``, the values are the labels. If the prop has ``use_query`` and no template uses ``$query``, the
    labels are searched here.
    """

    label: ItemTemplate | None = None
    value: ItemTemplate
    steps: tuple[Step, ...] = ()
    after: tuple[After, ...] = ()


class Kind(Facts):
    """The prop for a field of one type; ``write`` is its value in the app's form. A text has to match ``pattern``, or
    ``advice`` is the error message."""

    type: PropType = "string"
    label: ItemTemplate = ""
    description: ItemTemplate = ""
    optional: ItemTemplate | bool = True
    options: ItemTemplate | None = None
    option_label: str = ""
    option_value: str = ""
    default: ItemJson = None
    write: ItemJson = None
    pattern: str | None = None
    advice: str = ""

    @model_validator(mode="after")
    def _advised(self) -> "Kind":
        patterns.check(self.pattern, self.advice)
        return self


class Reload(Listing):
    """Props found by a request: one for each item, named ``name``, of its ``kind`` in ``kinds`` (``*`` is any).

    ``{$fields}`` has their values by ``key``. No props are added while a prop that the URL needs is empty. ``steps``
    come before the request.
    """

    name: ItemTemplate
    key: ItemTemplate
    kind: ItemTemplate = ""
    kinds: dict[str, Kind]
    steps: tuple[Step, ...] = ()


class Option(Facts):
    """One choice."""

    label: str
    value: str | int | bool


def _form_of(value: Any) -> str:
    return "(list)" if isinstance(value, list | tuple) else "(request)"


Listed = Annotated[tuple[Option | str | int, ...], Tag("(list)")]
Options = Annotated[Listed | Annotated[Lookup, Tag("(request)")], Discriminator(_form_of)]


class PropForm(Facts):
    """A prop of any type of the contract. A text has to match ``pattern`` entirely, or ``advice`` is the error message.

    ``aliases`` are other names under which its value may be sent.
    """

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
    """An error in a response with a good status: the member at ``path`` is ``equals``, or is ``present`` at all."""

    path: str
    equals: Any = False
    present: bool = False


def _listed(failing: Any) -> Any:
    return [failing] if isinstance(failing, Mapping) else failing


class Errors(Facts):
    """How the app reports errors: ``message`` is the path of its message, ``code`` that of its error code.

    Any one of ``failing`` makes a response an error. ``words`` are sentences by code or status; ``other`` is the
    sentence for the rest.
    """

    message: str = ""
    code: str = ""
    failing: Annotated[tuple[Failing, ...], BeforeValidator(_listed)] = ()
    words: dict[str, AnswerTemplate] = Field(default_factory=dict)
    other: AnswerTemplate | None = None


class Refuse(Facts):
    """A reason to fail: if ``only_if`` is not empty, no request is sent and ``words`` is the error message."""

    only_if: RequestTemplate
    words: RequestTemplate


class ComponentForm(Facts):
    """The fields of actions and triggers. ``aliases`` are other names under which the component can be called."""

    name: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
    description: Annotated[str, Field(min_length=1)]
    aliases: tuple[str, ...] = ()
    props: dict[str, PropForm] = Field(default_factory=dict)
    reload: Reload | None = None
    errors: Errors | None = None


class Tool(Facts):
    """The tool of an MCP server that an action calls: its ``name`` there, and the ``arguments``, an object whose empty
    members are left out. ``sha256`` is that of the tool as an owner saw it
    (:func:`webapp.service.outbound.mcp.fingerprint`): another one is not called, unless it ``goes_on``, as those of
    servers that providers host."""

    name: Annotated[str, Field(min_length=1, max_length=128)]
    arguments: RequestJson = Field(default_factory=dict)
    sha256: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")] = ""
    goes_on: bool = False


class ActionForm(ComponentForm):
    """An action: ``steps``, then one ``request``. The default ``result`` is the response, or all items of its pages.

    With ``tool``, the request only says where the MCP server is, and the result is that of the tool.

    ``values`` are named values computed between the two; each may use those before it as ``$values``. ``hints`` is the
    effect of running it; ``annotations`` override single ones. ``file`` names the file in which the response is kept.
    ``each`` replaces each ``$item`` of a list in the result. ``tag`` is the group of an operation that was added from
    the description of the app's whole API; such actions are listed after the app's own. ``scopes`` are those that it
    needs, as alternatives of which each needs all of its scopes.
    """

    hints: Hints
    tag: str = ""
    scopes: tuple[tuple[str, ...], ...] = ()
    annotations: Mapping[str, bool] = Field(default_factory=dict)
    summary: AnswerTemplate
    steps: tuple[Step, ...] = ()
    values: Params = Field(default_factory=dict)
    refuse: tuple[Refuse, ...] = ()
    request: Listing
    tool: Tool | None = None
    file: RequestTemplate | None = None
    each: ItemJson = None
    result: AnswerJson = None
    exports: AnswerFields = Field(default_factory=dict)

    @property
    def gives_files(self) -> bool:
        """Whether its result may be a file, or have some."""
        return self.file is not None or self.tool is not None

    @model_validator(mode="after")
    def _one_answer(self) -> "ActionForm":
        request = self.request
        more = [request.json_, request.form, request.multipart, request.text, request.file, request.pages, self.each]
        if self.tool is None:
            return self
        if request.method != "POST" or request.params or request.headers or self.file or any(map(bool, more)):
            raise ValueError('the request of a tool has method = "POST" and a url, and nothing else')
        return self


class Sync(Facts):
    """How an app lists changes since the last poll: the last page of a list has a token at ``next``, which is sent as
    ``param`` with ``params`` in place of the list's own.

    The first token is that of the whole list, requested with ``start``. If the app refuses a token with a status of
    ``gone``, the list itself is polled for recent changes, and a new token is requested. ``{$since}`` is the time of
    the last poll, at most ``days`` ago, and ``days`` ago at the first. ``new`` is the time at which an item was
    created; items created before the last poll are left out.
    """

    param: str
    next: str
    params: Params = Field(default_factory=dict)
    start: Params = Field(default_factory=dict)
    gone: tuple[int, ...] = (410,)
    days: int = Field(default=14, ge=1, le=365)
    new: ItemTemplate = ""


class Inner(Listing):
    """A list of each item of a poll, such as the comments of an issue. Its items are polled instead, and ``{$outer}``
    is the item that one belongs to.

    It is not requested for an item whose time at ``changed`` is before the newest time so far.
    """

    url: Annotated[tuple[ItemTemplate, ...], SEVERAL]
    params: ItemParams = Field(default_factory=dict)
    changed: ItemTemplate


class Poll(Listing):
    """A list that is polled on each tick. At the first poll, the ``first`` newest items are emitted as examples.

    ``{$since}`` is the time of the newest item so far. ``order`` is the order of the list. ``steps`` come before it.
    With ``sync``, the app lists the changes; with ``inner``, each item has a list of what is polled. ``events`` are
    those that the app sends to the one URL of an OAuth client and that let it poll at once; their content is not read.
    """

    events: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    sync: Sync | None = None
    inner: Inner | None = None
    order: Literal["newest", "oldest"] = "newest"
    first: int = Field(default=limits.EXAMPLES, ge=0, le=100)


class Signature(Facts):
    """How the app signs its requests: ``header`` has an HMAC (RFC 2104) of ``signed``, the secret itself (token), or a
    JWT (RFC 7519) that is signed with the secret by HS256, whose times ``exp``, ``nbf`` and ``iat`` are checked (jwt).

    ``by`` is the name of the signer in the log. ``{$body}`` is the request's body as text, ``{$method}`` and ``{$url}``
    are its method and public URL, ``{$time}`` is the signed time, from ``time_header`` or from the path ``time_member``
    of the body, in seconds or milliseconds since 1970. With ``pairs``, the header is ``t=<time>,v1=<signature>``, and
    one of its signatures has to match.
    """

    header: str
    by: str = "the app"
    scheme: Literal["hmac-sha256", "hmac-sha1", "token", "jwt"] = "hmac-sha256"
    prefix: str = ""
    encoding: Literal["hex", "base64"] = "hex"
    signed: Annotated[str, Field(pattern=r"\{\$body\}")] = "{$body}"
    time_header: str = ""
    time_member: str = ""
    time_unit: Literal["s", "ms"] = "s"
    pairs: bool = False
    tolerance: int = Field(default=TOLERANCE_S, ge=1, le=86_400)


class Detail(Step):
    """A request for details that an event, perhaps an ``$item``, lacks. If its result is empty or does not match
    ``where``, the event is not emitted."""

    url: Annotated[tuple[ItemTemplate, ...], SEVERAL]
    params: ItemParams = Field(default_factory=dict)
    where: Params = Field(default_factory=dict)


class Challenge(Facts):
    """How the app verifies that we own the URL: a request with a non-empty ``only_if`` gets the response ``answer``,
    text unchanged and anything else as JSON, with ``headers``.

    It may carry the ``secret`` of later signatures, which is kept as long as the webhook exists; a different secret is
    refused.
    """

    only_if: RequestTemplate
    answer: RequestJson = ""
    headers: Params = Field(default_factory=dict)
    secret: RequestTemplate = ""


class Existing(Listing):
    """The list of what was subscribed at the app; ``where`` leaves those with the trigger's URL, and ``id`` is what
    ``unsubscribe`` gets as ``{$hook}``."""

    id: ItemJson = "{$item.id}"


class Subscription(Facts):
    """A subscription at the app: ``subscribe`` creates it and returns its ``id``, ``unsubscribe`` deletes it.

    If its id got lost, because the process ended before it was stored, it is found by ``existing`` and deleted.

    ``secret`` is the shared secret: ``make`` for a random one, or a template. ``steps`` come before ``subscribe``. A
    subscription that expires ``lasts`` so many seconds: until ``{$until}``, or until ``ends`` of the response. It is
    renewed before that by ``renew``, or else replaced by a new one; ``gone`` are the statuses by which ``renew`` says
    that there is none. ``{$channel}`` is a new random id for each. ``refused`` is the app's reason for not creating
    one, if it says so with a good status.
    """

    steps: tuple[Step, ...] = ()
    subscribe: Request
    unsubscribe: Request
    existing: Existing | None = None
    renew: Request | None = None
    gone: tuple[int, ...] = (404, 410)
    refused: AnswerTemplate = ""
    lasts: int | None = Field(default=None, ge=60, le=31_536_000)
    ends: AnswerTemplate = ""
    id: AnswerJson = "{$answer.id}"
    secret: AnswerTemplate = MAKE
    challenge: Challenge | None = None

    @property
    def gets_secret_from_app(self) -> bool:
        """Whether the app chooses the secret and sends it with its challenge."""
        return self.challenge is not None and self.challenge.secret != ""

    @model_validator(mode="after")
    def _renewed_in_time(self) -> "Subscription":
        if self.lasts is None and (self.renew is not None or self.ends):
            raise ValueError("renew and ends need lasts, the seconds for which it stands")
        return self


class Webhook(Subscription):
    """A webhook at the app. Requests are ignored unless they have the ``signature`` and match ``accept``, which has
    members of the request by their paths.

    If a request has several events, ``items`` is their list; each is emitted with its ``details``. If the prop for
    requests has ``custom_response``, the trigger responds to a ``challenge`` and to all other requests.
    """

    items: RequestTemplate = ""
    details: tuple[Detail, ...] = ()
    signature: Signature | None = None
    accept: dict[str, RequestJson] = Field(default_factory=dict)


class Push(Subscription):
    """Notifications of an app that make us poll its list at once instead of at the next tick.

    A notification counts if its ``token`` is the secret, or if the request has the ``signature``; a request with
    several has the list ``items``, each with its own ``token``. Those with a non-empty ``ignore_if`` are ignored;
    ``renew_if`` says that the subscription has to be renewed. A ``challenge`` gets its response. ``values`` are named
    values for its requests.

    ``at`` is the URL that the app gets: the trigger's own, or that of the account's OAuth client, if the app allows a
    client one URL. There, notifications are verified as the app's ``[notices]`` say, and the id of the subscription
    tells whose they are. An account without a client of its app has no such URL, and its triggers poll.
    """

    lasts: int = Field(ge=60, le=31_536_000)
    at: Literal["trigger", "client"] = "trigger"
    values: dict[str, RequestJson] = Field(default_factory=dict)
    items: RequestTemplate = ""
    token: ItemTemplate = ""
    signature: Signature | None = None
    ignore_if: ItemTemplate = ""
    renew_if: ItemTemplate = ""

    @model_validator(mode="after")
    def _answers_in_words(self) -> "Push":
        if self.challenge is not None and (self.challenge.secret or self.challenge.headers):
            raise ValueError("a push answers a challenge with a text, and has a secret of its own")
        return self

    @model_validator(mode="after")
    def _recognized(self) -> "Push":
        if [bool(self.token), self.signature is not None].count(True) != (1 if self.at == "trigger" else 0):
            raise ValueError('a push at the trigger needs token or signature; one with at = "client" has none')
        if self.signature is not None and self.items:
            raise ValueError("a signature is that of the whole request, so there are no items")
        if self.at == "client" and (self.challenge or self.items or self.ignore_if or self.renew_if or self.existing):
            raise ValueError('at = "client" excludes challenge, items, ignore_if, renew_if and existing')
        return self


class AppHook(Facts):
    """Events that the app sends to the one URL of an OAuth client: those with these names, or all if there are none.

    They were verified before, and the account may see them. Events that do not match ``accept``, members of the request
    by their paths, are ignored. ``details`` are requested for the others.
    """

    events: tuple[str, ...] = ()
    accept: dict[str, RequestJson] = Field(default_factory=dict)
    details: tuple[Detail, ...] = ()


class TriggerForm(ComponentForm):
    """A trigger with ``poll``, ``webhook`` or ``apphook``; one that polls may have a ``push``.

    Each event has an ``id``, a ``summary`` and perhaps a ``time``. ``event`` is emitted; the default is the item, or
    the body of the request. ``dedupe`` says which ids count.
    """

    dedupe: Literal["unique", "greatest", "last"] | None = "unique"
    id: ItemTemplate
    summary: ItemTemplate
    time: ItemTemplate | None = None
    event: ItemJson = None
    poll: Poll | None = None
    push: Push | None = None
    webhook: Webhook | None = None
    apphook: AppHook | None = None

    @property
    def answers(self) -> bool:
        """Whether the trigger itself responds to requests."""
        return any(prop.custom_response for prop in self.props.values())

    @property
    def event_names(self) -> tuple[str, ...] | None:
        """The names of the app's events that it gets at the URL of an OAuth client, empty for all; None for none."""
        if self.poll is not None:
            return self.poll.events or None
        return self.apphook.events if self.apphook is not None else None

    @property
    def subscription(self) -> Subscription | None:
        """The subscription that it creates at its app, or None."""
        return self.webhook or self.push

    @model_validator(mode="after")
    def _one_way(self) -> "TriggerForm":
        if [self.poll, self.webhook, self.apphook].count(None) != 2:
            raise ValueError("a trigger has either [poll], [webhook] or [apphook]")
        if self.poll is not None and self.poll.inner is not None and (self.time is None or self.poll.sync is not None):
            raise ValueError("[poll.inner] needs time, by which its items are new, and no [poll.sync]")
        if self.push is not None and self.poll is None:
            raise ValueError("[push] says when [poll] looks, so the two belong together")
        return self
