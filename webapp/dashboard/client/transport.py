"""One HTTP call to a Connect service, and what its outcome means to a page.

Whatever goes wrong is one of our errors. No answer, an answer that is not the API's and 5xx are :class:`ServiceDown`.
429 is :class:`Throttled`, and nothing of that kind is asked again before its time. The other refusals keep the
service's own sentence. :class:`Memory` keeps answers that may be a few seconds old.
"""

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import orjson

from webapp.dashboard.client import refusals
from webapp.dashboard.client.calls import HIDDEN, CallRecord, masked, sentence_of
from webapp.dashboard.client.remote import Answer, Remote, Sender
from webapp.errors import Throttled, Unavailable
from webapp.kit.clock import MINUTE, SECOND, Clock, now

TIMEOUT_S = 10.0
LONGEST_WAIT = 5 * MINUTE  # a service that asks for more patience is asked again by then
Params = Mapping[str, str | int | bool]
_NOUN = re.compile(r"/v1/(?:connect/(?:proj_[a-zA-Z0-9]+/)?)?([^/?]*)")
_TOKEN = re.compile(r"/tokens/[^/?]+")
T = TypeVar("T")


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
        """``base_url`` ends before ``/v1``; ``sender`` is another way there than sockets (see :mod:`.inprocess`).

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
            refusal = None if 200 <= answer.status < 300 else refusals.of(answer) or ServiceDown()
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
            raise refusals.in_language(refusal)
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
