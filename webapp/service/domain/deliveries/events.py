"""Events (table ``events``): what triggers emitted and what notifications say, byte for byte as it is delivered.

An event and its deliveries are inserted in the caller's transaction, so that what was accepted is never lost. The
caller commits and then calls ``service.wake()``. A body that holds a secret of ours is sealed: a Connect token, or the
key in a trigger's own URL, which is part of every request's payload.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from webapp.kit.ids import ordered_id
from webapp.service.components.calls import Emitted
from webapp.service.components.masking import MASK
from webapp.service.domain.base.keyring import KeyGone, Place
from webapp.service.domain.base.sealed import SealedColumn
from webapp.service.domain.base.service import Service
from webapp.service.domain.deliveries import deliveries, endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.deliveries.trigger_reference import TriggerReference
from webapp.service.domain.projects.projects import Environment, Scene
from webapp.store.contract import Reader, Row, Tx

EMIT = "emit"
MAX_LISTED = 100
MAX_SUMMARY = 500
MAX_PAGE_BYTES = 16 * 1024 * 1024
_SIZE = "COALESCE(LENGTH(body), LENGTH(body_sealed))"
_SHOWN = "id, project_id, environment, trigger_id, kind, at, emitted_id, emitted_at, summary, body, body_sealed"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. ``at`` is when it was recorded, ``emitted_at`` when the component said that it happened (ms).

    ``body_sealed`` stands in the place of ``body`` until :func:`opened`.
    """

    id: str
    project_id: str
    environment: Environment
    trigger_id: str | None
    kind: str
    at: int
    emitted_id: str | None
    emitted_at: int | None
    summary: str | None
    body: bytes = field(repr=False)
    body_sealed: bytes | None = field(default=None, repr=False)


def record(
    tx: Tx, service: Service, trigger: TriggerReference, emitted: Sequence[Emitted], *, secret: str | None = None
) -> list[Event]:
    """Write down what ``trigger`` emitted, with a delivery to each place that its events go to.

    Bodies that hold ``secret``, the key in the trigger's own URL, are sealed; a summary is shown without it.
    """
    if not emitted:
        return []
    now, scene = service.clock(), trigger.scene
    made = [
        Event(
            id=ordered_id("evt"),
            project_id=scene.project_id,
            environment=scene.environment,
            trigger_id=trigger.id,
            kind=EMIT,
            at=now,
            emitted_id=None if one.id is None else one.id.replace("\0", ""),
            emitted_at=one.ts,
            summary=_without(secret, one.summary)[:MAX_SUMMARY] if one.summary else None,
            body=as_bytes(one.event),
        )
        for one in emitted
    ]
    for event in made:
        holds = secret is not None and secret.encode() in event.body
        _insert(tx, event, event.body, _sealed(tx, service, event.project_id, event.id, event.body) if holds else None)
    deliveries.add(tx, [event.id for event in made], endpoints.targets(tx, trigger), now, trigger_id=trigger.id)
    return made


def notify(
    tx: Tx, service: Service, scene: Scene, kind: str, body: bytes, targets: Sequence[Endpoint], *, sealed: bool
) -> str:
    """Write down a notification of ``scene`` for ``targets``, ``sealed`` when its body holds a secret; its id."""
    now = service.clock()
    event = Event(
        ordered_id("evt"), scene.project_id, scene.environment, None, kind, now, None, None, None, body
    )  # fmt: skip
    _insert(tx, event, body, _sealed(tx, service, scene.project_id, event.id, body) if sealed else None)
    deliveries.add(tx, [event.id], targets, now, trigger_id=None)
    return event.id


def page_of_trigger(
    reader: Reader, trigger_id: str, *, limit: int = MAX_LISTED, after: str | None = None, event_id: str | None = None
) -> list[Event]:
    """Events of a trigger, newest first: at most ``limit``, older than the event ``after``, or the one ``event_id``.

    They are shown once they are :func:`opened`. Large ones come one page after another: fewer than ``limit``, so that
    nobody who sends them can fill the memory of whoever looks.
    """
    where, params = "trigger_id = :trigger", {"trigger": trigger_id, "limit": min(limit, MAX_LISTED)}
    if event_id is not None:
        where, params["event"] = f"{where} AND id = :event", event_id
    if after is not None:
        mark = reader.one(
            "SELECT at, id FROM events WHERE id = :id AND trigger_id = :trigger", {"id": after, "trigger": trigger_id}
        )
        if mark is None:
            return []
        where, params = f"{where} AND (at, id) < (:at, :id)", {**params, **mark}
    ordered = f"FROM events WHERE {where} ORDER BY at DESC, id DESC LIMIT :limit"
    params["limit"] = _fitting(reader.tuples(f"SELECT {_SIZE} {ordered}", params))
    return [_event(row) for row in reader.all(f"SELECT {_SHOWN} {ordered}", params)]


def count_of_trigger(reader: Reader, trigger_id: str) -> int:
    """How many events of a trigger are kept."""
    row = reader.one("SELECT COUNT(*) AS n FROM events WHERE trigger_id = :trigger", {"trigger": trigger_id})
    return row["n"] if row else 0


def opened(service: Service, found: Sequence[Event]) -> list[Event]:
    """``found`` with the bodies that were sealed."""
    return [one if one.body_sealed is None else replace(one, body=_body_of(service, one)) for one in found]


def to_json(event: Event) -> dict[str, Any]:
    """The event as the API shows it: ``e`` holds it exactly as it was emitted."""
    found = {
        "e": orjson.Fragment(event.body),
        "k": event.kind,
        "ts": event.at if event.emitted_at is None else event.emitted_at,
        "id": event.id,
    }
    return found if event.summary is None else {**found, "sum": event.summary}


def body_of(service: Service, event_id: str) -> bytes:
    """The bytes to send, opened when they are sealed. Raises ``LookupError`` when the event is gone."""
    row = service.store.one("SELECT project_id, body, body_sealed FROM events WHERE id = :id", {"id": event_id})
    if row is None:
        raise LookupError(f"{event_id} is gone")
    if row["body_sealed"] is None:
        return bytes(row["body"])
    return open_body(service, row["project_id"], event_id, row["body_sealed"])


def size_of(reader: Reader, event_id: str) -> int:
    """How many bytes the body has. Raises ``LookupError`` when the event is gone."""
    row = reader.tuples(f"SELECT {_SIZE} FROM events WHERE id = :id", {"id": event_id})  # noqa: S608
    if not row:
        raise LookupError(f"{event_id} is gone")
    return int(row[0][0])


def open_body(service: Service, project_id: str, event_id: str, sealed: bytes) -> bytes:
    """The body in ``sealed``, as it was read from the event's row. Raises ``LookupError`` when the event is gone."""
    try:
        return service.keys.open_box(_place(project_id, event_id), sealed)
    except KeyGone:  # sealed anew by a rotation since it was read
        again = service.store.one("SELECT body_sealed FROM events WHERE id = :id", {"id": event_id})
        if again is not None and again["body_sealed"] == sealed:
            raise
        return body_of(service, event_id)


def as_bytes(event: Any) -> bytes:
    """``event`` as the JSON that is stored, shown, signed and sent."""
    try:
        return orjson.dumps(event)
    except TypeError:  # a number beyond 64 bits, or half a surrogate pair: escaped, they are JSON like any other
        return json.dumps(event, separators=(",", ":")).encode()


def _insert(tx: Tx, event: Event, body: bytes, sealed: bytes | None) -> None:
    tx.run(
        "INSERT INTO events (id, project_id, environment, trigger_id, kind, at, emitted_id, emitted_at, summary, body, "
        "body_sealed) VALUES (:id, :project, :environment, :trigger, :kind, :at, :emitted_id, :emitted_at, :summary, "
        ":body, :sealed)",
        {
            "id": event.id,
            "project": event.project_id,
            "environment": event.environment,
            "trigger": event.trigger_id,
            "kind": event.kind,
            "at": event.at,
            "emitted_id": event.emitted_id,
            "emitted_at": event.emitted_at,
            "summary": event.summary,
            "body": body if sealed is None else None,
            "sealed": sealed,
        },
    )


def _fitting(sizes: Sequence[tuple[int]]) -> int:
    """How many of the first bodies make a page: one at least."""
    held = list(itertools.accumulate(size for (size,) in sizes))
    return max(sum(one <= MAX_PAGE_BYTES for one in held), 1)


def _sealed(tx: Tx, service: Service, project_id: str, event_id: str, body: bytes) -> bytes:
    return service.keys.seal_box(tx, _place(project_id, event_id), body)


def _body_of(service: Service, event: Event) -> bytes:
    try:
        return open_body(service, event.project_id, event.id, event.body_sealed or b"")
    except LookupError:  # removed since it was read
        return b"null"


def _without(secret: str | None, summary: str) -> str:
    """``summary`` as a database can hold it."""
    return (summary if secret is None else summary.replace(secret, MASK)).replace("\0", "")


def _place(project_id: str, event_id: str) -> Place:
    return Place(project_id, "events", event_id, "body")


SEALED = SealedColumn("events", "body_sealed")


def _event(row: Row) -> Event:
    return Event(**{**row, "body": bytes(row["body"] or b"null")})
