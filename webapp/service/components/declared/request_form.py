"""The models of requests in a declared component: one request, a list with its pages, options, props that follow."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from webapp.service.components.declared import patterns
from webapp.service.components.declared.facts import (
    Answered,
    AnsweredAll,
    AnsweredFields,
    Asking,
    AskingAll,
    Facts,
    OfEach,
    OfEachAll,
    Params,
)
from webapp.service.components.props import PropType
from webapp.service.outbound.client import header_refusal


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
