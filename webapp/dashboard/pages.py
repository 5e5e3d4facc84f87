"""Pages with two responses, a fragment for htmx or else the whole page, and lists whose query is their address.

htmx-Flask reads and writes the headers of htmx 2. The header of htmx 4, ``HX-Request-Type`` (``partial`` or ``full``),
is read here.
"""

import functools
import gzip
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, cast
from urllib.parse import urlencode

from flask import Response, flash, g, get_flashed_messages, redirect, render_template, session, url_for
from flask_wtf.csrf import generate_csrf  # type: ignore[import-untyped]  # it carries no types
from htmx_flask import make_response, request  # type: ignore[import-untyped]  # it carries no types
from pydantic import AfterValidator
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.lenient import Lenient
from webapp.errors import Invalid

_WORTH_COMPRESSING = 1_024  # bytes
_COMPRESSION_LEVEL = 5
_NO_FILTERS = frozenset({"after", "page", "sort", "shown"})  # of a list's query
VARY = "HX-Request, HX-Request-Type, HX-History-Restore-Request, Cookie, Accept-Encoding, Sec-Fetch-Site"
T = TypeVar("T")


class ListQuery(Lenient):
    """The query of a list. Invalid values become the default."""

    @classmethod
    def of_request(cls) -> Self:
        """The query of the current request."""
        return cls.model_validate(request.args.to_dict())

    @property
    def filtered(self) -> bool:
        """Whether anything narrows the list."""
        return any(value for name, value in self.__dict__.items() if name not in _NO_FILTERS)

    def query_string(self, **changes: str | int) -> str:
        """The query with ``changes``, with its question mark and always in the same order.

        Empty and default values are left out.
        """
        defaults, values = _defaults(type(self)), self.__dict__ | changes
        left = {name: value for name, value in values.items() if value and value != defaults.get(name)}
        query = {name: int(value) if value is True else value for name, value in left.items()}
        return "?" + urlencode(query) if query else ""

    def url(self, **changes: str | int) -> str:
        """The address of this list with ``changes``."""
        return here() + self.query_string(**changes)


@functools.cache
def _defaults(query: type[ListQuery]) -> Mapping[str, object]:
    return {name: field.default for name, field in query.model_fields.items()}


def here() -> str:
    """The path of this page in the browser; a portal's has the portal's prefix."""
    return cast(str, request.script_root + request.path)


def address(endpoint: str, **values: Any) -> str:
    """``url_for`` with texts and numbers, for what pages link to many times.

    It is kept by where the dashboard is mounted, since a portal has a prefix of its own.
    """
    texts = tuple((name, str(value)) for name, value in values.items() if value is not None)
    return _address(request.script_root, endpoint, texts)


@functools.lru_cache(maxsize=4096)
def _address(_mount: str, endpoint: str, values: tuple[tuple[str, str], ...]) -> str:
    texts: dict[str, Any] = dict(values)
    return url_for(endpoint, **texts)


def read_from(after: str, read: Callable[[str], T]) -> T:
    """The result of ``read`` from the cursor ``after`` on; from the start if it is invalid or of another list."""
    try:
        return read(after)
    except Invalid:
        if not after:
            raise
        return read("")


def among(values: Mapping[str, object]) -> AfterValidator:
    """For a field of a query: one of ``values`` or the default."""

    def check(value: str) -> str:
        if value not in values:
            raise ValueError(value)
        return value

    return AfterValidator(check)


def at_most(length: int) -> AfterValidator:
    """For a field of a query: cut after ``length`` characters."""
    return AfterValidator(lambda text: text[:length])


def within(low: int, high: int) -> AfterValidator:
    """For a field of a query: a number moved between two others."""
    return AfterValidator(lambda number: min(max(number, low), high))


def for_htmx() -> bool:
    """Whether htmx puts the answer into a page; of a boosted link it wants the whole."""
    return bool(request.htmx) and request.headers.get("HX-Request-Type") != "full"


def wants_fragment() -> bool:
    """Whether htmx requests a fragment; a history restore needs the whole page."""
    return for_htmx() and not request.htmx.history_restore_request


def fragment(template: str, **context: Any) -> str:
    """A part of a page, which needs no navigation."""
    g.fragment = True
    return render_template(template, **context)


def page(template: str, part: str, *, url: str | None = None, **context: Any) -> Response:
    """``part`` for htmx (``url`` goes into the address bar), else the ``template`` around it."""
    if not wants_fragment():
        return cast(Response, make_response(render_template(template, **context)))
    parts = [part, *(["dashboard/_stale.html"] if g.get("stale_since") else [])]
    return cast(Response, make_response("".join(fragment(each, **context) for each in parts), push_url=url))


def notice_stale(at: int) -> None:
    """Note that a part of the page is from ``at`` (ms), since the service does not respond."""
    g.stale_since = min(at, g.get("stale_since", at))


def go(url: str) -> AnyResponse:
    """Lead to another page: 303, or for htmx a header, because ``fetch`` would swallow a redirect."""
    return cast(Response, make_response("", 204, redirect=url)) if request.htmx else redirect(url, 303)


def status(sentence: str, code: int) -> Response:
    """A response for htmx that is shown in the status region, whatever its target."""
    body = fragment("dashboard/_status.html", sentence=sentence)
    return cast(Response, make_response(body, code, retarget="#status", reswap="innerHTML", push_url=False))


def say(sentence: str, tone: str, url: str) -> AnyResponse:
    """Say something in the status region; without JavaScript on the page at ``url``."""
    if wants_fragment():
        return cast(Response, make_response(fragment("dashboard/trigger/_said.html", sentence=sentence, tone=tone)))
    flash(sentence, tone)
    return go(url)


def form_token() -> str:
    """The form token of this page, for each of its forms: the secret in the browser's cookie, signed once for all."""
    if "csrf_token" not in g:
        secret = session.get("csrf_token")
        g.csrf_token = _signed(secret) if secret else generate_csrf()
    return cast(str, g.csrf_token)


@functools.lru_cache(maxsize=4096)  # browsers
def _signed(_secret: str) -> str:
    return cast(str, generate_csrf())


def compress(response: Response) -> Response:
    """Gzip a page (RFC 9110 section 8.4.1.3), unless that could reveal a form token.

    A page contains both the searched text and a form token; an attacker who can make a browser request it repeatedly
    and sees the sizes could guess the token (the BREACH attack). Such requests come from another site, which browsers
    declare in ``Sec-Fetch-Site``: their responses are not compressed.
    """
    if (
        response.direct_passthrough
        or response.mimetype != "text/html"
        or not request.accept_encodings.quality("gzip")
        or request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site")
    ):
        return response
    body = response.get_data()
    if len(body) >= _WORTH_COMPRESSING:
        response.set_data(gzip.compress(body, _COMPRESSION_LEVEL, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    return response


def flashed() -> list[tuple[str, str]]:
    """The messages of the previous page: tone and sentence."""
    messages = cast(list[tuple[str, str]], get_flashed_messages(with_categories=True))
    # Once each: two requests on their way at the same time may both have said it.
    return list(dict.fromkeys((str(tone), str(sentence)) for tone, sentence in messages))
