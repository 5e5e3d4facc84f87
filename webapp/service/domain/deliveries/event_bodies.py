"""Bodies of events, as they are kept and as they are sent: JSON, sealed where it holds a secret, or a request."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

import orjson

from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.deliveries import body_parts, received
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader

MAX_PAGE_BYTES = 16 * 1024 * 1024
SEALED = SealedColumn("events", "body_sealed")
SIZE = "COALESCE(size, LENGTH(body), LENGTH(body_sealed))"


def opened(service: Service, scene: Scene, event_id: str, box: bytes, *, in_parts: bool = False) -> bytes:
    """The bytes to send of a body that was sealed as ``box``. Raises ``LookupError`` when the event is gone."""
    plain = SEALED.open(service, scene.project_id, event_id, box)
    if not received.is_packed(plain):
        return plain
    content = body_parts.read(service, scene.project_id, "event_id", event_id) if in_parts else b""
    return as_bytes(received.unpacked(plain, content).payload())


def as_bytes(event: Any) -> bytes:
    """``event`` as the JSON that is stored, shown, signed and sent."""
    try:
        return orjson.dumps(event)
    except TypeError:  # a number beyond 64 bits, or half a surrogate pair: escaped, they are JSON like any other
        return json.dumps(event, separators=(",", ":")).encode()


def size_of(reader: Reader, event_id: str) -> int:
    """How many bytes the body has. Raises ``LookupError`` when the event is gone."""
    row = reader.tuples(f"SELECT {SIZE} FROM events WHERE id = :id", {"id": event_id})  # noqa: S608
    if not row:
        raise LookupError(f"{event_id} is gone")
    return int(row[0][0])


def fitting(sizes: Sequence[tuple[int]]) -> int:
    """How many of the first bodies make a page: one at least."""
    totals = itertools.accumulate(size for (size,) in sizes)
    return max(sum(total <= MAX_PAGE_BYTES for total in totals), 1)
