"""Events (table ``events``): what triggers emitted and what notifications say, byte for byte as it is delivered.

An event and its deliveries are inserted in the caller's transaction, so that what was accepted is never lost. The
caller commits and then calls ``service.wake()``. A body that holds a secret of ours is sealed: a Connect token, or the
key in a trigger's own URL. A request that came for a trigger is kept as it came (:mod:`received`), always sealed.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from webapp.kit.crypto import ordered_id
from webapp.service.components.calls import Emitted
from webapp.service.components.masking import MASK
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import body_parts, counts, deliveries, event_bodies, trigger_webhooks
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.deliveries.received import ReceivedRequest
from webapp.service.domain.deliveries.trigger_webhooks import TriggerReference
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

EMIT = "emit"
MAX_LISTED = 100
MAX_SUMMARY = 500


@dataclass(frozen=True, slots=True)
class Event:
    """One event. ``at`` is when it was recorded, ``emitted_at`` when the component said that it happened (ms).

    ``body_sealed`` stands in the place of ``body`` until :func:`opened`. ``kept`` bytes are kept of it. Of a request,
    ``size`` is how long its JSON is, and its body may stand ``in_parts``.
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


_EVENTS = Table("events", Event)
_BRIEF = ", ".join("NULL" if column.name.startswith("body") else column.name for column in _EVENTS.fields)


def record(
    tx: Tx, service: Service, trigger: TriggerReference, emitted: Sequence[Emitted], *, secret: str | None = None
) -> list[Event]:
    """Write down what ``trigger`` emitted, with a delivery to each place that its events go to.

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
            body=(body := event_bodies.as_bytes(emission.event)),
            kept=len(body),
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
    """Write down ``request``, whose JSON has ``size`` bytes, as an event of ``trigger``, with its deliveries."""
    now, event_id, scene = service.clock(), ordered_id("evt"), trigger.scene
    packed, beside = request.packed()
    facts = (event_id, scene, trigger.id, EMIT, now, None, now, summary, packed)
    event = Event(*facts, size=size, kept=len(packed) + len(beside), in_parts=bool(beside))
    _insert(tx, service, event, sealed=True)
    body_parts.keep(tx, service, scene.project_id, "event_id", event_id, beside)
    _deliver(tx, trigger, [event], now)
    return event


def notify(
    tx: Tx, service: Service, scene: Scene, kind: str, body: bytes, targets: Sequence[Endpoint], *, sealed: bool
) -> str:
    """Write down a notification of ``scene`` for ``targets``, ``sealed`` when its body holds a secret; its id."""
    now = service.clock()
    event = Event(ordered_id("evt"), scene, None, kind, now, None, None, None, body)
    _insert(tx, service, event, sealed=sealed)
    deliveries.add(tx, [event.id], targets, now, trigger_id=None)
    return event.id


def page_of_trigger(
    reader: Reader, trigger_id: str, *, limit: int = MAX_LISTED, after: str = "", only: str = "", brief: bool = False
) -> list[Event]:
    """Events of a trigger, newest first: at most ``limit``, older than the event ``after``, or ``only`` one.

    They are shown once they are :func:`opened`. Large ones come one page after another: fewer than ``limit``, so that
    nobody who sends them can fill the memory of whoever looks; ``brief`` reads none of their bodies.
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
    sizes = f"SELECT {event_bodies.SIZE} FROM events WHERE {where}"  # noqa: S608
    params["limit"] = event_bodies.fitting(reader.tuples(sizes, params))
    return _EVENTS.all(reader, where, params)


def count_of_trigger(reader: Reader, trigger_id: str) -> int:
    """How many events of a trigger are kept."""
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
    """The bytes to send, opened when they are sealed. Raises ``LookupError`` when the event is gone."""
    event = _EVENTS.get(service.store, event_id)
    if event is None:
        raise LookupError(f"{event_id} is gone")
    if event.body_sealed is None:
        return event.body or b""
    return event_bodies.opened(service, event.scene, event_id, event.body_sealed, in_parts=event.in_parts)


def delete(tx: Tx, event_ids: Sequence[str]) -> None:
    """Forget events with their deliveries, and take both out of the counts."""
    names = {f"e{number}": event_id for number, event_id in enumerate(event_ids)}
    listed = ", ".join(f":{name}" for name in names)
    counts.removed_with(tx, f"event_id IN ({listed})", {**names})
    counts.removed_bytes(tx, f"e.id IN ({listed})", names)
    tx.run(f"DELETE FROM events WHERE id IN ({listed})", names)  # noqa: S608


def _deliver(tx: Tx, trigger: TriggerReference, events: Sequence[Event], now: int) -> None:
    counts.add_bytes(tx, trigger.id, trigger.external_user_id, sum(event.kept for event in events))
    targets = trigger_webhooks.targets(tx, trigger)
    deliveries.add(tx, [event.id for event in events], targets, now, trigger_id=trigger.id)


def _insert(tx: Tx, service: Service, event: Event, *, sealed: bool) -> None:
    if sealed:
        box = event_bodies.SEALED.seal(service, tx, event.scene.project_id, event.id, event.body or b"")
        event = replace(event, body=None, body_sealed=box)
    _EVENTS.insert(tx, event)


def _opened(service: Service, event: Event, sealed: bytes) -> Event:
    with suppress(LookupError):
        return replace(event, body=event_bodies.opened(service, event.scene, event.id, sealed, in_parts=event.in_parts))
    return event


def _without(secret: str | None, summary: str) -> str:
    """``summary`` as a database can hold it."""
    return (summary if secret is None else summary.replace(secret, MASK)).replace("\0", "")
