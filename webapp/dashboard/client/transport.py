"""One HTTP call to a Connect service, and what its outcome means to a page.

Whatever goes wrong is one of our errors (contract "Errors" and "Rate limits"). No answer, an answer that is not the
API's and 5xx are :class:`ServiceDown`. 429 is :class:`Throttled`, and nothing of that kind is asked again before its
time. The other refusals keep the service's own sentence. :class:`Memory` keeps answers that may be a few seconds
old.

:class:`Remembered` has what another Connect service answered last, for pages while it is slow or does not answer.
Only answers to reads are kept, in memory, for ten minutes. One that is given again says since when it may be untrue,
and pages say it too. A service that has just failed is not asked for five seconds, so that a page waits once.
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

from webapp import errors
from webapp.dashboard.client.calls import HIDDEN, CallRecord, masked, sentence_of
from webapp.errors import Detail, PatchbayError, Throttled, Unavailable, about
from webapp.kit.clock import MINUTE, SECOND, Clock, now
from webapp.kit.kept_json import kept_json
from webapp.kit.translation import DEFAULT, language, translated

_BY_STATUS: Mapping[int, type[PatchbayError]] = {
    401: errors.Unauthorized, 403: errors.Forbidden, 404: errors.NotFound, 405: errors.NotFound, 409: errors.Conflict,
    422: errors.Refused,
}  # fmt: skip
TIMEOUT_S = 10.0
LONGEST_WAIT = 5 * MINUTE  # a service that asks for more patience is asked again by then
Params = Mapping[str, str | int | bool]
_NOUN = re.compile(r"/v1/(?:connect/(?:proj_[a-zA-Z0-9]+/)?)?([^/?]*)")
_TOKEN = re.compile(r"/tokens/[^/?]+")
T = TypeVar("T")
PATIENCE_S = 3.0  # how long to wait for a service whose last answer is still known
REST = 5 * SECOND
_KEPT = 10 * MINUTE
_ANSWERS = 1_000
Ask = Callable[[float | None], Any]  # asks the service; with at most so many seconds of patience


class Answer(NamedTuple):
    """What came back; the names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Sender(Protocol):
    """The way to a Connect service. Threads may share one."""

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Answer:
        """Send one request, and wait up to ``timeout`` seconds. Raises ``OSError`` when no whole answer comes."""

    def close(self) -> None:
        """Give back the sockets."""


class Remote:
    """Over sockets, which are kept for the next request.

    The adapter of ``requests`` alone: a Session adds cookies, proxies and a netrc, none of which may be used here.
    """

    def __init__(self) -> None:
        self._adapter = HTTPAdapter(pool_maxsize=16)

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Answer:
        """Send one request; what ``requests`` raises is an ``OSError``."""
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
    """The error, with the service's own sentence; ``None`` where the service failed instead of refusing."""
    status = answer.status
    if status == 429:
        return _throttled(answer)
    body = _body(answer)
    sentence = body.get("error") if isinstance(body.get("error"), str) else None
    if status == 400:
        return errors.Invalid(sentence, _details(body.get("details")))
    return _BY_STATUS[status](sentence) if status in _BY_STATUS else None


def in_language(error: PatchbayError) -> PatchbayError:
    """``error`` with its sentences in the language that is spoken now."""
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
    """What is wrong with which field; what cannot be understood is left out."""
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
    """Calls one Connect service. Safe to share between threads."""

    def __init__(
        self,
        base_url: str,
        sender: Sender | None = None,
        clock: Clock = now,
        note: Callable[[CallRecord], None] | None = None,
    ) -> None:
        """``base_url`` ends before ``/v1``; ``sender`` is another way there than sockets (see :mod:`.in_process`).

        ``note`` hears of each call that was made with a token, without what is secret.
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
        timeout: float = TIMEOUT_S,
        noted: bool = True,
    ) -> Any:
        """The JSON answer (``None`` when it is empty). Raises our errors only, as the module says."""
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
        answer, begun = None, perf_counter()
        try:
            answer = self._sender.send(method, self.base_url + path + _query(params), headers, content, timeout)
            refusal = None if 200 <= answer.status < 300 else of(answer) or ServiceDown()
        except OSError as error:
            refusal = ServiceDown()
            refusal.__cause__ = error
        if self._note and token and noted:
            self._note(
                CallRecord(
                    method, _shown(method, path, params), environment or "", token.startswith("ctok_"),
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
    """What the service throttled is not asked again before its time. Safe to share between threads.

    Limits are kept apart by what is asked and by whom, so that one noun that is throttled stops no other and no one
    else.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: Memory[tuple[int, Throttled]] = Memory(clock, lifetime=LONGEST_WAIT)

    def check(self, key: str) -> None:
        """Raise :class:`Throttled`, with the seconds that are left, while ``key`` must wait."""
        until, error = self._waiting.get(key) or (0, None)
        left = until - self._clock()
        if error and left > 0:
            raise Throttled(error.limit, error.reset_at, -(-left // SECOND))

    def note(self, key: str, error: Throttled) -> None:
        """The service said ``error`` about ``key``."""
        self._waiting.put(key, (self._clock() + error.retry_after * SECOND, error))


class Memory(Generic[T]):
    """At most ``size`` values, each for ``lifetime`` milliseconds; each process has its own.

    Where another process may change what they stand for, ``state`` gives something that differs from then on.
    """

    def __init__(
        self, clock: Clock, *, lifetime: int, size: int = 1_000, state: Callable[[str], object] | None = None
    ) -> None:
        self._clock, self._lifetime, self._size, self._state = clock, lifetime, size, state
        self._lock = threading.Lock()
        self._values: OrderedDict[str, tuple[T, int, object]] = OrderedDict()

    def get(self, key: str) -> T | None:
        """The value, unless it is absent, too old or changed elsewhere.

        The state is read even without a value: a request reads it once, so what it puts counts from before its fetch.
        """
        current = self._state(key) if self._state else None
        with self._lock:
            value, until, state = self._values.get(key, (None, 0, None))
        return value if value is not None and self._clock() < until and state == current else None

    def put(self, key: str, value: T, lifetime: int | None = None) -> T:
        """Keep ``value`` and hand it back."""
        until = self._clock() + (self._lifetime if lifetime is None else lifetime)
        state = self._state(key) if self._state else None
        with self._lock:
            self._values[key] = (value, until, state)
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value

    def drop(self, key: str) -> None:
        """Forget the value, because it has just been changed."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Forget every value."""
        with self._lock:
            self._values.clear()


def limited_together(method: str, path: str, token: str | None, body: Mapping[str, Any] | None) -> str:
    """What one limit counts: the method and noun of a call, and whose it is."""
    noun = _NOUN.match(path)
    user = (body or {}).get("external_user_id", "")
    return f"{method} {noun[1] if noun else path} {token} {user}"


def _query(params: Params | None) -> str:
    """With its question mark, or nothing. What is empty or false is left out; true is spelt as the API has it."""
    query = {name: "true" if value is True else value for name, value in (params or {}).items() if value}
    return "?" + urlencode(query) if query else ""


def _shown(method: str, path: str, params: Params | None) -> str:
    """The address without what is secret: Connect tokens, and addresses and texts that somebody typed."""
    secret = params and (method != "GET" or any("://" in str(value) for value in params.values()))
    return _TOKEN.sub(f"/tokens/{HIDDEN}", path) + _query(masked(params) if params and secret else params)


def _json(answer: Answer) -> Any:
    try:
        return orjson.loads(answer.content)
    except ValueError as error:
        raise NotTheApi from error


class Remembered:
    """The last answers of one service. ``notice`` hears from when (ms) an answer is that is given again."""

    def __init__(self, clock: Clock, notice: Callable[[int], None]) -> None:
        self._clock, self._notice = clock, notice
        self._answers: Memory[tuple[bytes, int]] = Memory(clock, lifetime=_KEPT, size=_ANSWERS)
        self._rests_until = 0

    def read(self, question: str, ask: Ask) -> Any:
        """What ``ask`` answers, or what it answered to ``question`` before when the service fails."""
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
        self._answers.put(question, (kept_json(answer), self._clock()))
        return answer
