"""A request to a trigger's own address, and the payload that is made of it.

The payload is ``{method, path, query, headers, body, bodyRaw, client_ip, url}``. Names of headers are in lower case. A
query parameter that comes several times is a list of its values. ``bodyRaw`` is the body as UTF-8, with U+FFFD in
place of what is none; ``body`` is what it says as JSON, or else that text. Native triggers emit it, sources get it as
their event; the payloads of mails are made by :mod:`mails`, those of ticks by :mod:`schedules`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.service.components.masking import MASK

MASKED = frozenset({"authorization", "proxy-authorization", "cookie"})
MAX_DEPTH = 150  # of a body's arrays and objects; the JSON library writes 254 levels, and a body stands inside some


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


def request_payload(request: InboundRequest) -> dict[str, Any]:
    """The payload of ``request``. Credentials that came in its headers are masked."""
    raw = request.body.decode("utf-8", "replace")
    return {
        "method": request.method,
        "path": request.path,
        "query": _grouped(request.query),
        "headers": _headers(request.headers),
        "body": _read(raw, _content_type(request.headers)),
        "bodyRaw": raw,
        "client_ip": request.client_ip,
        "url": request.url,
    }


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


def _content_type(headers: Iterable[tuple[str, str]]) -> str:
    return next((value.strip().lower() for name, value in headers if name.lower() == "content-type"), "")


def _read(raw: str, content_type: str) -> Any:
    """``raw`` as JSON where that is what it is: said by its type, or told by how it begins, as curl sends it."""
    media_type = content_type.partition(";")[0].strip()
    looks_like_json = raw.lstrip()[:1] in ("{", "[") and not media_type.startswith("multipart/")
    if not looks_like_json and not (media_type == "application/json" or media_type.endswith("+json")):
        return raw
    try:
        value = orjson.loads(raw)
        orjson.dumps(_wrapped(value))
    except (orjson.JSONDecodeError, TypeError):  # not JSON, or nested too deeply to be passed on as such
        return raw
    return value


def _wrapped(value: Any) -> Any:
    """``value`` inside so many lists that the JSON library refuses it when it is deeper than :data:`MAX_DEPTH`."""
    for _ in range(254 - MAX_DEPTH):
        value = [value]
    return value


def _without_surrogates(text: str) -> str:
    """``text`` without lone surrogates, which no JSON may hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
