"""The logs of an environment: what the tables of runs, calls, events, deliveries, activity and approvals hold, in one
list, newest first.

Nothing is stored here. Each table's own module says how it is read (:class:`LogSource`), and a page costs the same
however many entries there are. The kinds of entries are decided in :mod:`webapp.service.domain.projects.log_entries`,
which those modules import. An id finds an entry and what belongs to it: the deliveries of an event, and whatever is
about an account, a deployed trigger or a component.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

import orjson

from webapp.errors import NotFound
from webapp.kit import cursors
from webapp.service.domain.access import api_calls
from webapp.service.domain.agents import approvals
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import runs
from webapp.service.domain.deliveries import events
from webapp.service.domain.deliveries import log as delivery_log
from webapp.service.domain.projects import activity, log_entries
from webapp.service.domain.projects.log_entries import KINDS, Kind, LogEntry, LogFilter, LogSource
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import runs as trigger_runs
from webapp.store.contract import Reader

SOURCES: tuple[LogSource, ...] = (
    runs.LOG,
    trigger_runs.LOG,
    api_calls.LOG,
    events.LOG,
    delivery_log.LOG,
    activity.LOG,
    approvals.LOG,
    runs.LOG_OF_AGENTS,
)
MAX_PAYLOAD = 1024 * 1024  # bytes of an event that the logs show
_TRIGGERS = ("dc_", "hi_", "ti_", "ei_")


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of the logs, and how many entries of each kind there are, if they were counted.

    ``MOST_COUNTED`` means that or more.
    """

    entries: Sequence[LogEntry]
    start_cursor: str
    end_cursor: str
    counts: Mapping[Kind, int]


def page(
    reader: Reader,
    now: int,
    log_filter: LogFilter,
    window: cursors.Window,
    *,
    kind: Kind | None = None,
    entry_id: str | None = None,
    sources: Collection[LogSource] = SOURCES,
    counted: bool = True,
) -> LogPage:
    """The entries of ``sources`` that ``log_filter`` selects, of one ``kind``, or about ``entry_id``.

    Quiet ones are listed only of a deployed trigger, which has few of them. Those of each kind are ``counted`` or not.
    Raises :class:`webapp.kit.cursors.BadCursor`.
    """
    mark = cursors.fingerprint("logs", asdict(log_filter), kind, entry_id)
    key = attrgetter("at", "id")
    if entry_id is not None:
        about = _about(log_filter, entry_id)
        if about is None:
            alone = _alone(reader, now, log_filter, entry_id, kind, sources)
            return alone if counted else replace(alone, counts={})
        log_filter = about
    log_filter = replace(log_filter, quiet=log_filter.quiet and log_filter.trigger_id is not None)
    plan = cursors.keyset(window, mark, ("at", "id"), descending=True)
    of_kind = [source for source in sources if kind in (None, source.kind)]
    entries = log_entries.newest(reader, of_kind, log_filter, window, mark, now)
    part = cursors.page(entries, window, plan, mark, key, 0)
    counts = log_entries.count(reader, sources, log_filter, now) if counted else {}
    return LogPage(part.items, part.start_cursor, part.end_cursor, counts)


def get(
    service: Service, log_filter: LogFilter, entry_id: str, sources: Collection[LogSource] = SOURCES
) -> tuple[LogEntry, dict[str, Any]]:
    """One entry, and its details. Raises :class:`NotFound`."""
    entry = _entry(service.store, service.clock(), log_filter, entry_id, sources)
    if entry is None:
        raise NotFound("There is no such entry in the logs.")
    return entry, _details(service, log_filter.scene, entry)


def _about(log_filter: LogFilter, entry_id: str) -> LogFilter | None:
    """``log_filter`` for what belongs to ``entry_id``; None if that is an entry."""
    prefix = entry_id.partition("_")[0]
    if entry_id.startswith("apn_"):
        return replace(log_filter, account_id=entry_id)
    if entry_id.startswith(_TRIGGERS):
        return replace(log_filter, trigger_id=entry_id)
    if entry_id.startswith("sc_"):
        return replace(log_filter, component_id=entry_id)
    if "-" in entry_id or "/" in entry_id:
        return replace(log_filter, component_key=entry_id)
    return None if prefix else log_filter


def _alone(
    reader: Reader,
    now: int,
    log_filter: LogFilter,
    entry_id: str,
    kind: Kind | None,
    sources: Collection[LogSource],
) -> LogPage:
    """The page of one entry, and with an event its newest deliveries."""
    entries = list[LogEntry]()
    entry = _entry(reader, now, log_filter, entry_id, sources)
    if entry is not None and log_filter.status in (None, entry.status):
        entries.append(entry)
    if entry_id.startswith(f"{events.LOG.prefix}_") and delivery_log.LOG in sources:
        of_event = replace(log_filter, event_id=entry_id)
        window = cursors.Window(cursors.MAX_LIMIT)
        deliveries = log_entries.newest(reader, [delivery_log.LOG], of_event, window, "", now)
        entries = deliveries[: cursors.MAX_LIMIT] + entries
    counts = {each: sum(entry.kind == each for entry in entries) for each in KINDS}
    chosen = [entry for entry in entries if kind in (None, entry.kind)]
    return LogPage(chosen, "", "", counts)


def _entry(
    reader: Reader, now: int, log_filter: LogFilter, entry_id: str, sources: Collection[LogSource]
) -> LogEntry | None:
    prefix = entry_id.partition("_")[0]
    for source in sources:
        if source.prefix == prefix:
            entry = source.get(reader, log_filter, entry_id, now)
            if entry is not None:
                return entry
    return None


def _details(service: Service, scene: Scene, entry: LogEntry) -> dict[str, Any]:
    """What the entry's own module keeps of it. Raises :class:`NotFound` if it was deleted meanwhile."""
    match entry.id.partition("_")[0], entry.trigger_id:
        case "run", _:
            run = runs.details(service, scene, entry.id)
            return {
                "request": {name: run[name] for name in ("component_key", "configured_props", "masked_props")},
                "response": {name: run[name] for name in ("exports", "os", "ret")},
            }
        case "tr", str(trigger_id):
            return {"response": {"os": trigger_runs.observations(service, trigger_id, entry.id)}}
        case "evt", _:
            return {"response": {"event": _payload(service, entry)}}
        case "dlv", str(trigger_id):
            delivery = delivery_log.details(service, trigger_id, entry.id)
            return {"request": delivery["request"], "attempts": delivery["attempts"]}
        case "apr", _:
            values = approvals.values_of(service, scene, entry.id)
            return {"request": {"component_key": entry.component_key, **values}}
        case "call", _:
            return api_calls.details(service, scene, entry.id)
    return {}


def _payload(service: Service, entry: LogEntry) -> Any:
    """What a trigger emitted; None if it is too large for a log, or a notification, which may hold a Connect token."""
    if entry.trigger_id is None or events.body_size(service.store, entry.id) > MAX_PAYLOAD:
        return None
    return orjson.Fragment(events.body_of(service, entry.id) or b"null")
