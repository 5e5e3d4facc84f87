"""A request to a trigger's own address, and what is kept of it.

Names of headers are in lower case. A query parameter that comes several times is a list of its values. What its payload
says of its body is composed later (:mod:`webapp.service.domain.deliveries.events`). Native triggers emit it, sources
get it as their event; the payloads of mails are made by :mod:`mails`, those of ticks by :mod:`schedules`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from webapp.service.components.masking import MASK
from webapp.service.domain.deliveries.events import ReceivedRequest

MASKED = frozenset({"authorization", "proxy-authorization", "cookie"})


@dataclass(frozen=True, slots=True)
class InboundRequest:
    """A request to a trigger's own address. ``path`` is what stands behind the key, at least ``/``.

    ``url`` is the whole address, key included: some providers sign it. Headers may repeat; ``at`` is when it came, in
    epoch milliseconds.
    """

    method: str
    path: str
    url: str = field(repr=False)
    query: tuple[tuple[str, str], ...] = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: bytes = field(repr=False)
    client_ip: str
    at: int


def kept(request: InboundRequest, **more: Any) -> ReceivedRequest:
    """What is kept of ``request``, with ``more`` facts. Credentials that came in its headers are masked."""
    facts = {
        "method": request.method,
        "path": request.path,
        "query": _grouped(request.query),
        "headers": _headers(request.headers),
        "body": None,
        "bodyRaw": None,
        "client_ip": request.client_ip,
        "url": request.url,
        **more,
    }
    return ReceivedRequest(facts, request.body)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(_without_surrogates(name), []).append(_without_surrogates(value))
    return {name: values[0] if len(values) == 1 else values for name, values in groups.items()}


def _headers(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Repeated headers are joined by commas (RFC 9110 section 5.3)."""
    headers: dict[str, str] = {}
    for name, value in pairs:
        name = name.lower()
        shown = MASK if name in MASKED else _without_surrogates(value)
        headers[name] = f"{headers[name]}, {shown}" if name in headers and shown != MASK else shown
    return headers


def _without_surrogates(text: str) -> str:
    """``text`` without lone surrogates, which no JSON may hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
