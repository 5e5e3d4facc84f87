"""Sends a request to a Connect service elsewhere."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict


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
