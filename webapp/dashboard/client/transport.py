"""One HTTP call to a Connect service, and what its outcome means to a page.

It promises that whatever goes wrong is one of our errors: no answer, an answer that is not the API's and 5xx are
:class:`ServiceDown`; 429 is :class:`Throttled`, and nothing of that kind is asked again before its time; the other
refusals keep the service's own sentence.
"""

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import orjson
import requests
from requests.adapters import BaseAdapter, HTTPAdapter
from requests.structures import CaseInsensitiveDict

from webapp.dashboard.client.backoff import Backoff, key_of
from webapp.errors import (
    Conflict,
    Detail,
    Forbidden,
    Invalid,
    NotFound,
    PatchbayError,
    Refused,
    Throttled,
    Unauthorized,
    Unavailable,
)
from webapp.kit.clock import Clock, now

TIMEOUT_S = 10.0
TEST_TIMEOUT_S = 35.0  # testing an account waits for its provider
Params = Mapping[str, str | int | bool | list[str]]


class ServiceDown(Unavailable):
    """The Connect service does not answer right now. Nothing is lost; try again in a moment."""


class Transport:
    """Calls one Connect service. Safe to share between threads."""

    def __init__(self, base_url: str, adapter: BaseAdapter | None = None, clock: Clock = now) -> None:
        """``base_url`` ends before ``/v1``; ``adapter`` replaces the sockets (see :mod:`.inprocess`)."""
        self._base_url, self._backoff = base_url.rstrip("/"), Backoff(clock)
        # The adapter alone: a Session adds cookies, proxies and a netrc, none of which may be used here, and more
        # time than the embedded service needs to answer.
        self._adapter = adapter or HTTPAdapter(pool_maxsize=16)

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
        key = key_of(method, path, token, body)
        self._backoff.check(key)
        request = requests.PreparedRequest()
        request.method, request.url = method, self._base_url + path + _query(params)
        request.headers = CaseInsensitiveDict({"Accept": "application/json", "User-Agent": "Patchbay dashboard"})
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        if environment:
            request.headers["x-pd-environment"] = environment
        request.prepare_body(data=None, files=None, json=body)
        try:
            response = self._adapter.send(request, timeout=timeout, proxies={})
            response.content  # noqa: B018  # read to its end while trouble with it is still caught
        except (requests.RequestException, OSError) as error:
            raise ServiceDown from error
        if 200 <= response.status_code < 300:
            return _json(response) if response.content else None
        refusal = _error(response)
        if isinstance(refusal, Throttled):
            self._backoff.note(key, refusal)
        raise refusal

    def close(self) -> None:
        """Give back the sockets."""
        self._adapter.close()


def _query(params: Params | None) -> str:
    """With its question mark, or nothing; booleans as the API spells them."""
    given = params or {}
    words = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
    return "?" + urlencode(words, doseq=True) if words else ""


def _json(response: requests.Response) -> Any:
    try:
        return orjson.loads(response.content)
    except ValueError as error:
        raise ServiceDown("The Connect service answered something that is not its API.") from error


_BY_STATUS: Mapping[int, type[PatchbayError]] = {
    401: Unauthorized, 403: Forbidden, 404: NotFound, 405: NotFound, 409: Conflict, 422: Refused,
}  # fmt: skip


def _error(response: requests.Response) -> PatchbayError:
    status = response.status_code
    if status == 429:
        return _throttled(response)
    body = _body(response)
    sentence = body.get("error") if isinstance(body.get("error"), str) else None
    if status == 400:
        return Invalid(sentence, _details(body.get("details")))
    return _BY_STATUS[status](sentence) if status in _BY_STATUS else ServiceDown()


def _body(response: requests.Response) -> Mapping[str, Any]:
    try:
        found = orjson.loads(response.content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _details(found: Any) -> list[Detail]:
    """What is wrong with which field; what cannot be understood is left out."""
    listed = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [Detail(str(one.get("field", "")), str(one["message"])) for one in listed if one.get("message")]


def _throttled(response: requests.Response) -> Throttled:
    """Specification section 7."""

    def header(name: str, default: int) -> int:
        value = response.headers.get(name, "")
        return int(value) if value.isascii() and value.isdigit() else default

    wait = header("Retry-After", 60)
    return Throttled(header("X-RateLimit-Limit", 0), header("X-RateLimit-Reset", int(time.time()) + wait), wait)
