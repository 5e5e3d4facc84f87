"""Events (table ``events``): what triggers emitted and notifications contain, in the exact bytes that are delivered.

An event and its deliveries are inserted in the caller's transaction, so that no accepted event is lost. The caller
commits and then calls ``service.wake()``. A body that contains a secret of ours is sealed: a Connect token, or the key
in a trigger's own URL.

A :class:`ReceivedRequest` is stored as it was received, always sealed: its facts as JSON, and its body once. Its
payload, ``{method, path, query, headers, body, bodyRaw, client_ip, url}``, is composed when it is shown or sent.
``bodyRaw`` is the body as UTF-8, with U+FFFD for invalid bytes; ``body`` is its value if it is JSON, or else that text.
So control characters, which JSON writes in six bytes, take that room only then. A large body is sealed in parts (table
``body_parts``), so that it is never in memory more than once; its parts are deleted with the event, or the queued
request, that they belong to.
"""

import codecs
import itertools
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from webapp.kit.crypto import ordered_id
from webapp.service.components.calls import Emitted
from webapp.service.components.masking import MASK
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.deliveries import deliveries, event_targets, stats
from webapp.service.domain.deliveries.deliveries import Origin
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.deliveries.event_targets import TriggerReference
from webapp.service.domain.projects import app_usage
from webapp.service.domain.projects.log_entries import USER_NAME, LogEntry, LogRow, LogSource
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

MAX_DEPTH = 150  # of a body's arrays and objects; the JSON library writes 254 levels, and a body is nested inside some
_MARK = b"\x01"  # JSON never begins with it, and holds no line break of its own
_SLICE = 256 * 1024
SMALL = 64 * 1024  # bytes up to which a body is stored in the event's own row
PART_BYTES = 256 * 1024
PART_SEALED = SealedColumn("body_parts", "part_sealed", batch=20)
PartsOwner = Literal["event_id", "request_id"]
MAX_PAGE_BYTES = 16 * 1024 * 1024
BODY_SEALED = SealedColumn("events", "body_sealed")
SIZE = "COALESCE(size, LENGTH(body), LENGTH(body_sealed))"
EMIT = "emit"
MAX_LISTED = 100
MAX_SUMMARY = 500


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request. ``facts`` are its payload with None in the place of ``body`` and ``bodyRaw``."""

    facts: Mapping[str, Any] = field(repr=False)
    content: bytes = field(repr=False)

    def packed(self) -> tuple[bytes, bytes]:
        """The stored form, and the body if it is so large that it is stored separately, in parts."""
        facts = _MARK + orjson.dumps(self.facts) + b"\n"
        return (facts, self.content) if len(self.content) > SMALL else (facts + self.content, b"")

    def payload(self) -> dict[str, Any]:
        """The payload that is emitted, shown and sent."""
        raw = self.content.decode("utf-8", "replace")
        content_type = str(self.facts["headers"].get("content-type", "")).lower()
        return {**self.facts, "body": _read(raw, content_type), "bodyRaw": raw}

    def size(self) -> int:
        """An upper bound of the bytes of the payload's JSON: the body's value is no longer than its text."""
        return len(orjson.dumps(self.facts)) + 2 * _written(self.content)


def is_packed(kept: bytes) -> bool:
    """Whether ``kept`` is a request rather than JSON."""
    return kept[:1] == _MARK


def unpacked(kept: bytes, content: bytes = b"") -> ReceivedRequest:
    """The request that was packed, with its body if that was stored separately."""
    facts, _, inside = kept[1:].partition(b"\n")
    return ReceivedRequest(orjson.loads(facts), content or inside)


def _written(content: bytes) -> int:
    """The length of ``content`` as a JSON string, found without writing it whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    view, length = memoryview(content), 2
    for start in range(0, len(content), _SLICE):
        text = decoder.decode(bytes(view[start : start + _SLICE]), final=start + _SLICE >= len(content))
        length += len(orjson.dumps(text)) - 2
    return length


def _read(raw: str, content_type: str) -> Any:
    """``raw`` as JSON if it is JSON: by its type, or by its beginning, since curl sends another type."""
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


def store_parts(tx: Tx, service: Service, project_id: str, owner: PartsOwner, owner_id: str, content: bytes) -> None:
    """Store ``content`` for the event or request ``owner_id``, which is stored already."""
    view = memoryview(content)
    for number, start in enumerate(range(0, len(content), PART_BYTES)):
        part_id = f"{owner_id}.{number:05d}"
        sealed = PART_SEALED.seal(service, tx, project_id, part_id, bytes(view[start : start + PART_BYTES]))
        tx.run(
            f"INSERT INTO body_parts (id, project_id, {owner}, part_sealed) VALUES (:id, :project, :owner, :sealed)",  # noqa: S608
            {"id": part_id, "project": project_id, "owner": owner_id, "sealed": sealed},
        )


def read_parts(service: Service, project_id: str, owner: PartsOwner, owner_id: str) -> bytes:
    """The whole body. Raises ``LookupError`` if it was deleted."""
    sql = f"SELECT id FROM body_parts WHERE {owner} = :owner ORDER BY id"  # noqa: S608
    ids = [part_id for (part_id,) in service.store.tuples(sql, {"owner": owner_id})]
    if not ids:
        raise LookupError(f"the body of {owner_id} was deleted")
    return b"".join(_opened_part(service, project_id, part_id) for part_id in ids)


def _opened_part(service: Service, project_id: str, part_id: str) -> bytes:
    row = service.store.one("SELECT part_sealed FROM body_parts WHERE id = :id", {"id": part_id})
    if row is None:
        raise LookupError(f"the part {part_id} was deleted")
    return PART_SEALED.open(service, project_id, part_id, row["part_sealed"])


def opened_body(service: Service, scene: Scene, event_id: str, box: bytes, *, in_parts: bool = False) -> bytes:
    """The bytes to send of a body that was sealed as ``box``. Raises ``LookupError`` if the event was deleted."""
    plain = BODY_SEALED.open(service, scene.project_id, event_id, box)
    if not is_packed(plain):
        return plain
    content = read_parts(service, scene.project_id, "event_id", event_id) if in_parts else b""
    return body_bytes(unpacked(plain, content).payload())


def body_bytes(event: Any) -> bytes:
    """``event`` as the JSON that is stored, shown, signed and sent."""
    try:
        return orjson.dumps(event)
    except TypeError:  # a number beyond 64 bits, or half a surrogate pair: escaped, they are JSON like any other
        return json.dumps(event, separators=(",", ":")).encode()


def body_size(reader: Reader, event_id: str) -> int:
    """The number of bytes of the body. Raises ``LookupError`` if the event was deleted."""
    row = reader.tuples(f"SELECT {SIZE} FROM events WHERE id = :id", {"id": event_id})  # noqa: S608
    if not row:
        raise LookupError(f"{event_id} was deleted")
    return int(row[0][0])


def _fitting_page(sizes: Sequence[tuple[int]]) -> int:
    """How many of the first bodies fit in a page: at least one."""
    totals = itertools.accumulate(size for (size,) in sizes)
    return max(sum(total <= MAX_PAGE_BYTES for total in totals), 1)


@dataclass(frozen=True, slots=True)
class Event:
    """One event. ``at`` is when it was recorded, ``emitted_at`` when the component said that it happened (ms).

    ``body_sealed`` replaces ``body`` until :func:`opened`. ``kept`` is the number of stored bytes. For a request,
    ``size`` is the length of its JSON, and its body may be ``in_parts``. ``external_user_id`` (our id) and ``app`` are
    its trigger's.
    """

    id: str
    scene: Scene
    trigger_id: str | None
    kind: str
    at: int
    emitted_id: str | None
    emitted_at: int | None
    summary: str | None
    body: bytes | None = field(repr=False)
    body_sealed: bytes | None = field(default=None, repr=False)
    size: int | None = None
    kept: int = 0
    in_parts: bool = False
    external_user_id: str | None = None
    app: str | None = None


_EVENTS = Table("events", Event)
_BRIEF = ", ".join("NULL" if column.name.startswith("body") else column.name for column in _EVENTS.fields)


def record(
    tx: Tx, service: Service, trigger: TriggerReference, emitted: Sequence[Emitted], *, secret: str | None = None
) -> list[Event]:
    """Record what ``trigger`` emitted, with a delivery to each of its targets.

    Bodies that hold ``secret``, the key in the trigger's own URL, are sealed; a summary is shown without it.
    """
    now, scene = service.clock(), trigger.scene
    events = [
        Event(
            id=ordered_id("evt"),
            scene=scene,
            trigger_id=trigger.id,
            kind=EMIT,
            at=now,
            emitted_id=None if emission.id is None else emission.id.replace("\0", ""),
            emitted_at=emission.ts,
            summary=_without(secret, emission.summary)[:MAX_SUMMARY] if emission.summary else None,
            body=(body := body_bytes(emission.event)),
            kept=len(body),
            external_user_id=trigger.external_user_id,
            app=trigger.app,
        )
        for emission in emitted
    ]
    for event in events:
        _insert(tx, service, event, sealed=secret is not None and secret.encode() in (event.body or b""))
    _deliver(tx, trigger, events, now)
    return events


def record_request(
    tx: Tx, service: Service, trigger: TriggerReference, request: ReceivedRequest, summary: str, size: int
) -> Event:
    """Record ``request``, whose JSON has ``size`` bytes, as an event of ``trigger``, with its deliveries."""
    now, event_id, scene = service.clock(), ordered_id("evt"), trigger.scene
    packed, beside = request.packed()
    facts = (event_id, scene, trigger.id, EMIT, now, None, now, summary, packed)
    event = Event(
        *facts,
        size=size,
        kept=len(packed) + len(beside),
        in_parts=bool(beside),
        external_user_id=trigger.external_user_id,
        app=trigger.app,
    )
    _insert(tx, service, event, sealed=True)
    store_parts(tx, service, scene.project_id, "event_id", event_id, beside)
    _deliver(tx, trigger, [event], now)
    return event


def notify(
    tx: Tx, service: Service, scene: Scene, kind: str, body: bytes, targets: Sequence[Endpoint], *, sealed: bool
) -> str:
    """Record a notification of ``scene`` for ``targets``, ``sealed`` if its body contains a secret; return its id."""
    now = service.clock()
    event = Event(ordered_id("evt"), scene, None, kind, now, None, None, None, body)
    _insert(tx, service, event, sealed=sealed)
    deliveries.add(tx, [event.id], targets, now, Origin(scene))
    return event.id


def page_of_trigger(
    reader: Reader, trigger_id: str, *, limit: int = MAX_LISTED, after: str = "", only: str = "", brief: bool = False
) -> list[Event]:
    """Events of a trigger, newest first: at most ``limit``, older than the event ``after``, or ``only`` one.

    They are shown once they are :func:`opened`. A page has fewer than ``limit`` if they are large, so that senders
    cannot fill the memory of the reader's process; ``brief`` reads none of their bodies.
    """
    where, params = "trigger_id = :trigger", {"trigger": trigger_id, "limit": min(limit, MAX_LISTED)}
    if only:
        where, params["event"] = f"{where} AND id = :event", only
    if after:
        mark = reader.one(
            "SELECT at, id FROM events WHERE id = :id AND trigger_id = :trigger", {"id": after, "trigger": trigger_id}
        )
        if mark is None:
            return []
        where, params = f"{where} AND (at, id) < (:at, :id)", {**params, **mark}
    where = f"{where} ORDER BY at DESC, id DESC LIMIT :limit"
    if brief:
        return [_EVENTS.make(row) for row in reader.tuples(f"SELECT {_BRIEF} FROM events WHERE {where}", params)]  # noqa: S608
    sizes = f"SELECT {SIZE} FROM events WHERE {where}"  # noqa: S608
    params["limit"] = _fitting_page(reader.tuples(sizes, params))
    return _EVENTS.all(reader, where, params)


def count_of_trigger(reader: Reader, trigger_id: str) -> int:
    """The number of stored events of a trigger."""
    return _EVENTS.count(reader, "trigger_id = :trigger", {"trigger": trigger_id})


def opened(service: Service, events: Sequence[Event]) -> list[Event]:
    """``events`` with the bodies that were sealed; those of events that were removed since stay unread."""
    return [event if event.body_sealed is None else _opened(service, event, event.body_sealed) for event in events]


def to_json(event: Event) -> dict[str, Any]:
    """The event as the API shows it: ``e`` holds it exactly as it was emitted."""
    shown = {
        "e": orjson.Fragment(event.body or b"null"),
        "k": event.kind,
        "ts": event.at if event.emitted_at is None else event.emitted_at,
        "id": event.id,
    }
    return shown if event.summary is None else {**shown, "sum": event.summary}


def body_of(service: Service, event_id: str) -> bytes:
    """The bytes to send, opened if they are sealed. Raises ``LookupError`` if the event was deleted."""
    event = _EVENTS.get(service.store, event_id)
    if event is None:
        raise LookupError(f"{event_id} was deleted")
    if event.body_sealed is None:
        return event.body or b""
    return opened_body(service, event.scene, event_id, event.body_sealed, in_parts=event.in_parts)


def delete(tx: Tx, event_ids: Sequence[str]) -> None:
    """Delete events with their deliveries, and subtract both from the counts."""
    names = {f"e{number}": event_id for number, event_id in enumerate(event_ids)}
    listed = ", ".join(f":{name}" for name in names)
    stats.removed_with(tx, f"event_id IN ({listed})", {**names})
    stats.removed_bytes(tx, f"e.id IN ({listed})", names)
    tx.run(f"DELETE FROM events WHERE id IN ({listed})", names)  # noqa: S608


def _deliver(tx: Tx, trigger: TriggerReference, events: Sequence[Event], now: int) -> None:
    stats.add_bytes(tx, trigger.id, trigger.external_user_id, sum(event.kept for event in events))
    targets = event_targets.of_trigger(tx, trigger)
    origin = Origin(trigger.scene, trigger.id, trigger.external_user_id, trigger.app)
    deliveries.add(tx, [event.id for event in events], targets, now, origin)
    if events:
        app_usage.add(tx, trigger.scene, trigger.app, "event", now, len(events))


def _insert(tx: Tx, service: Service, event: Event, *, sealed: bool) -> None:
    if sealed:
        box = BODY_SEALED.seal(service, tx, event.scene.project_id, event.id, event.body or b"")
        event = replace(event, body=None, body_sealed=box)
    _EVENTS.insert(tx, event)


def _opened(service: Service, event: Event, sealed: bytes) -> Event:
    with suppress(LookupError):
        return replace(event, body=opened_body(service, event.scene, event.id, sealed, in_parts=event.in_parts))
    return event


def _without(secret: str | None, summary: str) -> str:
    """``summary`` as a database can hold it."""
    return (summary if secret is None else summary.replace(secret, MASK)).replace("\0", "")


def _log_entry(row: LogRow, _now: int) -> LogEntry:
    return row.entry("event", "succeeded", row.state)


LOG = LogSource(
    "event",
    "evt",
    (token_scopes.DEPLOYED_TRIGGERS_READ,),
    "events",
    {
        "at": "at",
        "id": "id",
        "state": "kind",
        "title": "COALESCE(NULLIF(summary, ''), (SELECT NULLIF(t.name, '') FROM deployed_triggers t "
        "WHERE t.id = events.trigger_id), kind)",
        "app": "app",
        "external_user_id": USER_NAME.format(table="events"),
        "trigger_id": "trigger_id",
        "event_id": "id",
    },
    _log_entry,
    {"succeeded": ("",)},
    subjects=("trigger_id",),
)
"""The events as the logs show them."""
