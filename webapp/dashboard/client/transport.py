"""One HTTP call to a Connect service, and what its outcome means to a page.

Whatever goes wrong is one of our errors. No answer, an answer that is not the API's and 5xx are :class:`ServiceDown`.
429 is :class:`Throttled`, and nothing of that kind is asked again before its time. The other refusals keep the
service's own sentence. :class:`Memory` keeps answers that may be a few seconds old.
"""

import json
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import orjson

from webapp import errors
from webapp.dashboard.client.remote import Answer, Remote, Sender
from webapp.errors import Detail, PatchbayError, Throttled, Unavailable
from webapp.kit.clock import MINUTE, SECOND, Clock, now

TIMEOUT_S = 10.0
LONGEST_WAIT = 5 * MINUTE  # a service that asks for more patience is asked again by then
Params = Mapping[str, str | int | bool]
_NOUN = re.compile(r"/v1/(?:connect/(?:proj_[a-zA-Z0-9]+/)?)?([^/?]*)")
T = TypeVar("T")


class ServiceDown(Unavailable):
    """The Connect service does not answer right now. Nothing is lost; try again in a moment."""


class NotTheApi(ServiceDown):
    """The Connect service answered something that is not its API."""


class Transport:
    """Calls one Connect service. Safe to share between threads."""

    def __init__(self, base_url: str, sender: Sender | None = None, clock: Clock = now) -> None:
        """``base_url`` ends before ``/v1``; ``sender`` is another way there than sockets (see :mod:`.inprocess`)."""
        self._base_url, self._backoff = base_url.rstrip("/"), Backoff(clock)
        self._sender = sender or Remote()

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
        try:
            answer = self._sender.send(method, self._base_url + path + _query(params), headers, content, timeout)
        except OSError as error:
            raise ServiceDown from error
        if 200 <= answer.status < 300:
            return _json(answer) if answer.content else None
        refusal = _error(answer)
        if isinstance(refusal, Throttled):
            self._backoff.note(key, refusal)
        raise refusal

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
    """At most ``size`` values, each for ``lifetime`` milliseconds; each process has its own."""

    def __init__(self, clock: Clock, *, lifetime: int, size: int = 1_000) -> None:
        self._clock, self._lifetime, self._size = clock, lifetime, size
        self._lock = threading.Lock()
        self._values: OrderedDict[str, tuple[T, int]] = OrderedDict()

    def get(self, key: str) -> T | None:
        """The value, unless it is absent or too old."""
        with self._lock:
            value, until = self._values.get(key, (None, 0))
        return value if self._clock() < until else None

    def put(self, key: str, value: T, lifetime: int | None = None) -> T:
        """Keep ``value`` and hand it back."""
        with self._lock:
            self._values[key] = (value, self._clock() + (self._lifetime if lifetime is None else lifetime))
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


def _json(answer: Answer) -> Any:
    try:
        return orjson.loads(answer.content)
    except ValueError as error:
        raise NotTheApi from error


_BY_STATUS: Mapping[int, type[PatchbayError]] = {
    401: errors.Unauthorized, 403: errors.Forbidden, 404: errors.NotFound, 405: errors.NotFound, 409: errors.Conflict,
    422: errors.Refused,
}  # fmt: skip


def _error(answer: Answer) -> PatchbayError:
    status = answer.status
    if status == 429:
        return _throttled(answer)
    body = _body(answer)
    sentence = body.get("error") if isinstance(body.get("error"), str) else None
    if status == 400:
        return errors.Invalid(sentence, _details(body.get("details")))
    return _BY_STATUS[status](sentence) if status in _BY_STATUS else ServiceDown()


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
    """Contract "Rate limits"."""

    def header(name: str, default: int) -> int:
        value = answer.headers.get(name, "")
        return int(value) if value.isascii() and value.isdigit() else default

    wait = header("retry-after", 60)
    return Throttled(header("x-ratelimit-limit", 0), header("x-ratelimit-reset", int(time.time()) + wait), wait)
