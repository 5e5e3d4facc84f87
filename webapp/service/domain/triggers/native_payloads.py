"""The payloads of requests and ticks (WIRE "Native payloads"); those of mails are made by :mod:`mails`.

A request: ``{method, path, query, headers, body, bodyRaw, client_ip, url}``. Names of headers are in lower case. A
query parameter that comes several times is a list of its values. ``bodyRaw`` is the body as UTF-8, with U+FFFD in
place of what is none; ``body`` is what it says as JSON, or else that text. A tick: ``{timestamp, interval_seconds}``
or ``{timestamp, cron, timezone}``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.service.components.masking import MASK

MASKED = frozenset({"authorization", "proxy-authorization", "cookie"})
MAX_DEPTH = (
    150  # of arrays and objects in a body; the JSON library writes 254 levels at most, and a body is inside some
)


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


def of_request(request: InboundRequest) -> dict[str, Any]:
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


def of_tick(schedule: Mapping[str, Any], at: int) -> dict[str, Any]:
    """The payload of a tick that was due at ``at`` (epoch milliseconds)."""
    if "intervalSeconds" in schedule:
        return {"timestamp": at, "interval_seconds": schedule["intervalSeconds"]}
    return {"timestamp": at, "cron": schedule["cron"], "timezone": schedule.get("timezone") or "UTC"}


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(_sound(name), []).append(_sound(value))
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _headers(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Repeated headers are joined by commas (RFC 9110 section 5.3)."""
    found: dict[str, str] = {}
    for name, value in pairs:
        name = name.lower()
        shown = MASK if name in MASKED else _sound(value)
        found[name] = f"{found[name]}, {shown}" if name in found and shown != MASK else shown
    return found


def _content_type(headers: Iterable[tuple[str, str]]) -> str:
    return next((value.strip().lower() for name, value in headers if name.lower() == "content-type"), "")


def _read(raw: str, content_type: str) -> Any:
    """``raw`` as JSON where that is what it is: said by its type, or told by how it begins, as curl sends it."""
    said = content_type.partition(";")[0].strip()
    looks = raw.lstrip()[:1] in ("{", "[") and not said.startswith("multipart/")
    if not looks and not (said == "application/json" or said.endswith("+json")):
        return raw
    try:
        found = orjson.loads(raw)
        orjson.dumps(_wrapped(found))
    except (orjson.JSONDecodeError, TypeError):  # not JSON, or nested too deeply to be passed on as such
        return raw
    return found


def _wrapped(value: Any) -> Any:
    """``value`` inside so many lists that the JSON library refuses it when it is deeper than :data:`MAX_DEPTH`."""
    for _ in range(254 - MAX_DEPTH):
        value = [value]
    return value


def _sound(text: str) -> str:
    """``text`` without lone surrogates, which no JSON may hold."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
