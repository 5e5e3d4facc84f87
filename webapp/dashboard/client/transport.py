"""HTTP calls to a Connect service, with errors, rate limits and caches.

Failures raise our own errors (contract "Errors" and "Rate limits"): no response, an unexpected response and 5xx are
:class:`ServiceDown`; 429 is :class:`Throttled`, and similar calls are not sent again before its time; other errors keep
the service's message. :class:`Memory` caches responses for seconds. :class:`Remembered` keeps the last responses to
reads for ten minutes, for pages while a remote service is slow or down; pages then show how old they are. After a
failure, the service is not called for five seconds, so that a page waits only once. Tokens are left to :mod:`.connect`.
"""

import json
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urlencode

import orjson
from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict

from webapp import connect_token_facts, errors
from webapp.dashboard.client.calls import CallRecord, sentence_of
from webapp.errors import Detail, PatchbayError, Throttled, Unavailable, about
from webapp.kit.call_masking import HIDDEN, masked
from webapp.kit.clock import MINUTE, SECOND, Clock, now
from webapp.kit.compact_json import compact_json
from webapp.kit.translation import DEFAULT, language, translated

_BY_STATUS: Mapping[int, type[PatchbayError]] = {
    401: errors.Unauthorized, 403: errors.Forbidden, 404: errors.NotFound, 405: errors.NotFound, 409: errors.Conflict,
    413: errors.TooLarge, 422: errors.Refused,
}  # fmt: skip
TIMEOUT_S = 10.0
LONGEST_WAIT = 5 * MINUTE  # the longest Retry-After that is respected
Params = Mapping[str, str | int | bool]
_NOUN = re.compile(r"/v1/(?:connect/(?:proj_[a-zA-Z0-9]+/)?)?([^/?]*)")
_TOKEN = re.compile(r"/tokens/[^/?]+")
T = TypeVar("T")
PATIENCE_S = 3.0  # the timeout of a call whose last response is still known
REST = 5 * SECOND
_KEPT = 10 * MINUTE
_ANSWERS = 1_000
Ask = Callable[[float | None], Any]  # calls the service with a timeout in seconds


class Answer(NamedTuple):
    """A response; the names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Sender(Protocol):
    """Sends requests to a Connect service. Safe to share between threads."""

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Answer:
        """Send a request and wait up to ``timeout`` seconds. Raises ``OSError`` without a complete response."""

    def close(self) -> None:
        """Give back the sockets."""


class Remote:
    """Sends requests over HTTP connections, which are reused.

    It uses only the adapter of ``requests``, because a Session adds cookies, proxies and netrc credentials.
    """

    def __init__(self) -> None:
        self._adapter = HTTPAdapter(pool_maxsize=16)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Answer:
        """Send a request. Raises ``OSError``, of which the errors of ``requests`` are subclasses."""
        request = PreparedRequest()
        request.method, request.url = method, url
        request.headers = CaseInsensitiveDict(headers)
        request.prepare_body(data=body or None, files=None)
        response = self._adapter.send(request, timeout=timeout, proxies={})
        return Answer(
            response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.content
        )

    def close(self) -> None:
        """Give back the sockets."""
        self._adapter.close()


def of(answer: Answer) -> PatchbayError | None:
    """The error in a response, with the service's message; ``None`` if the service failed instead of refusing."""
    status = answer.status
    if status == 429:
        return _throttled(answer)
    body = _body(answer)
    sentence = body.get("error") if isinstance(body.get("error"), str) else None
    if status == 400:
        return errors.Invalid(sentence, _details(body.get("details")))
    return _BY_STATUS[status](sentence) if status in _BY_STATUS else None


def in_language(error: PatchbayError) -> PatchbayError:
    """``error`` with its messages in the current language."""
    if language() == DEFAULT:
        return error
    sentence = translated(error.message)
    if isinstance(error, errors.Invalid):
        details = [Detail(detail.field, translated(detail.message)) for detail in error.details]
        for before, detail in zip(error.details, details, strict=True):
            if error.message == about(before.field, before.message):
                sentence = f"{detail.field}: {detail.message}"
        error.details = tuple(details)
    error.args = (sentence,)
    return error


def _body(answer: Answer) -> Mapping[str, Any]:
    try:
        body = orjson.loads(answer.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _details(details: Any) -> list[Detail]:
    """The details of an error by field, without malformed ones."""
    objects = [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []
    return [Detail(str(detail.get("field", "")), str(detail["message"])) for detail in objects if detail.get("message")]


def _throttled(answer: Answer) -> Throttled:
    def header(name: str, default: int) -> int:
        value = answer.headers.get(name, "")
        return int(value) if value.isascii() and value.isdigit() else default

    wait = header("retry-after", 60)
    return Throttled(header("x-ratelimit-limit", 0), header("x-ratelimit-reset", int(time.time()) + wait), wait)


class ServiceDown(Unavailable):
    """The Connect service does not answer right now. Nothing is lost; try again in a moment."""


class NotTheApi(ServiceDown):
    """The Connect service answered something that is not its API."""


class Transport:
    """Calls a Connect service. Safe to share between threads."""

    def __init__(
        self,
        base_url: str,
        sender: Sender | None = None,
        clock: Clock = now,
        note: Callable[[CallRecord], None] | None = None,
    ) -> None:
        """``base_url`` ends before ``/v1``; ``sender`` replaces HTTP connections (see :mod:`.in_process`).

        ``note`` is called with a record of each call that has a token, without secrets.
        """
        self.base_url, self._backoff = base_url.rstrip("/"), Backoff(clock)
        self._sender, self._clock, self._note = sender or Remote(), clock, note

    def call(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        environment: str | None = None,
        params: Params | None = None,
        body: Mapping[str, Any] | None = None,
        file: bytes | None = None,
        timeout: float = TIMEOUT_S,
        noted: bool = True,
    ) -> Any:
        """Make a call and return its JSON response, ``None`` if it is empty. Raises :class:`PatchbayError`.

        ``file`` is sent as the body instead of the JSON of ``body``.
        """
        key = limited_together(method, path, token, body)
        self._backoff.check(key)
        headers = {"Accept": "application/json", "User-Agent": "Patchbay dashboard"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if environment:
            headers["x-pd-environment"] = environment
        if body is not None:
            headers["Content-Type"] = "application/json"
        content = b"" if body is None else json.dumps(body, allow_nan=False).encode()
        if file is not None:
            headers["Content-Type"], content = "application/octet-stream", file
        answer, query, begun = None, _query(params), perf_counter()
        try:
            answer = self._sender.send(method, self.base_url + path + query, headers, content, timeout)
            refusal = None if 200 <= answer.status < 300 else of(answer) or ServiceDown()
        except OSError as error:
            refusal = ServiceDown()
            refusal.__cause__ = error
        if self._note and token and noted:
            self._note(
                CallRecord(
                    method, _shown(method, path, query, params), environment or "",
                    token.startswith(connect_token_facts.PREFIX),
                    None if body is None else masked(body), answer.status if answer else 0,
                    round((perf_counter() - begun) * 1000), self._clock(),
                    sentence_of(refusal, {**(params or {}), **(body or {})}) if refusal else "",
                )
            )  # fmt: skip
        if isinstance(refusal, Throttled):
            self._backoff.note(key, refusal)
        if refusal:
            raise in_language(refusal)
        return _json(answer) if answer and answer.content else None

    def close(self) -> None:
        """Give back the sockets."""
        self._sender.close()


class Backoff:
    """Delays calls that the service throttled. Safe to share between threads.

    Delays are separate for each kind of call and caller, so that one does not delay others.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: Memory[tuple[int, Throttled]] = Memory(clock, lifetime=LONGEST_WAIT)

    def check(self, key: str) -> None:
        """Raise :class:`Throttled` with the remaining seconds, while calls with ``key`` must wait."""
        until, error = self._waiting.get(key) or (0, None)
        left = until - self._clock()
        if error and left > 0:
            raise Throttled(error.limit, error.reset_at, -(-left // SECOND))

    def note(self, key: str, error: Throttled) -> None:
        """Record that the service throttled calls with ``key``."""
        self._waiting.put(key, (self._clock() + error.retry_after * SECOND, error))


class Memory(Generic[T]):
    """A cache in this process of at most ``size`` values, each for ``lifetime`` milliseconds.

    If another process may invalidate values, ``state`` returns something that then differs.
    """

    def __init__(
        self, clock: Clock, *, lifetime: int, size: int = 1_000, state: Callable[[str], object] | None = None
    ) -> None:
        self._clock, self._lifetime, self._size, self._state = clock, lifetime, size, state
        self._lock = threading.Lock()
        self._values: OrderedDict[str, tuple[T, int, object]] = OrderedDict()

    def get(self, key: str) -> T | None:
        """The value, or None if it is missing, expired or was invalidated.

        The state is read even without a value: a request reads it once, so what it puts has the state before its fetch.
        """
        current = self._state(key) if self._state else None
        with self._lock:
            value, until, state = self._values.get(key, (None, 0, None))
        return value if value is not None and self._clock() < until and state == current else None

    def put(self, key: str, value: T, lifetime: int | None = None) -> T:
        """Store ``value`` and return it."""
        until = self._clock() + (self._lifetime if lifetime is None else lifetime)
        state = self._state(key) if self._state else None
        with self._lock:
            self._values[key] = (value, until, state)
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value

    def drop(self, key: str) -> None:
        """Delete the value, because it has just been changed."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Delete all values."""
        with self._lock:
            self._values.clear()


def limited_together(method: str, path: str, token: str | None, body: Mapping[str, Any] | None) -> str:
    """The key of the limit that a call counts towards: its method, its noun and its caller."""
    noun = _NOUN.match(path)
    user = (body or {}).get("external_user_id", "")
    return f"{method} {noun[1] if noun else path} {token} {user}"


def _query(params: Params | None) -> str:
    """The query string with its question mark, without empty values; true and false as the API wants them."""
    values = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in (params or {}).items()
        if value not in ("", None)
    }
    return "?" + urlencode(values) if values else ""


def _shown(method: str, path: str, query: str, params: Params | None) -> str:
    """The path without Connect tokens, e-mail addresses and typed texts."""
    secret = params and (method != "GET" or any("://" in str(value) for value in params.values()))
    return _TOKEN.sub(f"/tokens/{HIDDEN}", path) + (_query(masked(params)) if params and secret else query)


def _json(answer: Answer) -> Any:
    try:
        return orjson.loads(answer.content)
    except ValueError as error:
        raise NotTheApi from error


class Remembered:
    """The last responses of a service. ``notice`` is called with the time (ms) of a response that is reused."""

    def __init__(self, clock: Clock, notice: Callable[[int], None]) -> None:
        self._clock, self._notice = clock, notice
        self._answers: Memory[tuple[bytes, int]] = Memory(clock, lifetime=_KEPT, size=_ANSWERS)
        self._rests_until = 0

    def read(self, question: str, ask: Ask) -> Any:
        """The response of ``ask``, or the last one to ``question`` if the service fails."""
        known = self._answers.get(question)
        if known is None:
            return self._keep(question, ask(None))
        if self._clock() >= self._rests_until:
            try:
                return self._keep(question, ask(PATIENCE_S))
            except (ServiceDown, Throttled):
                self._rests_until = self._clock() + REST
        content, at = known
        self._notice(at)
        return orjson.loads(content)

    def _keep(self, question: str, answer: Any) -> Any:
        self._answers.put(question, (compact_json(answer), self._clock()))
        return answer
