"""Calls of the API (table ``api_calls``): who called what, how it ended and how long it took, without secrets.

Calls are collected in memory and written together a moment later; a process that is killed loses only those. A process
keeps at most :data:`MOST_AT_ONCE` of each two seconds, and of those that only read and succeeded
:data:`MOST_READS_AT_ONCE`, so that a busy product costs no more to write down than a quiet one. Of our own pages, only
what they change and what fails is kept, as they read at every step. Calls are deleted after 30 days, and beyond the
newest :data:`KEPT_PER_SCENE` of each environment.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from webapp.audit import ActorKind
from webapp.errors import NotFound
from webapp.kit.crypto import ordered_id
from webapp.service.domain.base import log_retention, token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.base.write_buffer import WriteBuffer
from webapp.service.domain.projects.log_entries import LogEntry, LogRow, LogSource
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Row, Tx
from webapp.store.table import Table

KEPT_PER_SCENE = 20_000
MOST_AT_ONCE = 200
MOST_READS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call, masked already. ``at`` is when it began (epoch ms); ``error`` the sentence of its answer."""

    scene: Scene
    external_id: str | None
    caller_kind: ActorKind
    caller: str
    method: str
    address: str
    body: Mapping[str, Any] | None
    status: int
    error: str | None
    request_id: str
    took_ms: int
    at: int
    id: str = field(default_factory=lambda: ordered_id("call"))

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status < 400


_CALLS = Table("api_calls", ApiCall, write_only=("ok",))


def note(service: Service, call: ApiCall) -> None:
    """Have ``call`` written soon, unless too many are."""
    reads = call.ok and call.method == "GET"
    if _NOTED.waiting(service) < (MOST_READS_AT_ONCE if reads else MOST_AT_ONCE):
        _NOTED.note(service, call.id, call)


def has_room(service: Service) -> bool:
    """Whether another call can be noted, so that one that cannot costs nothing."""
    return _NOTED.waiting(service) < MOST_AT_ONCE


def flush(service: Service) -> None:
    """Write the collected calls."""
    _NOTED.flush(service)


def drop_user(tx: Tx, scene: Scene, external_id: str) -> int:
    """Forget the calls about one external user; how many there were."""
    where = "project_id = :project_id AND environment = :environment AND external_id = :external_id"
    return tx.run(f"DELETE FROM api_calls WHERE {where}", {**asdict(scene), "external_id": external_id})  # noqa: S608


def purge(service: Service) -> int:
    """Forget calls that are too old or too many; how many there were."""
    crowded = service.store.all(
        "SELECT project_id, environment FROM api_calls GROUP BY project_id, environment HAVING COUNT(*) > :kept",
        {"kept": KEPT_PER_SCENE},
    )
    with service.store.write() as tx:
        gone = tx.run("DELETE FROM api_calls WHERE at < :limit", {"limit": service.clock() - log_retention.KEPT})
        return gone + sum(_thin_out(tx, row) for row in crowded)


def details(service: Service, scene: Scene, call_id: str) -> dict[str, Any]:
    """Who made the call ``call_id`` of ``scene``, and with what. Raises :class:`NotFound`."""
    where = "id = :id AND project_id = :project_id AND environment = :environment"
    call = _CALLS.one(service.store, where, {"id": call_id, **asdict(scene)})
    if call is None:
        raise NotFound("There is no such call.")
    return {
        "request": {"method": call.method, "address": call.address, "body": call.body},
        "response": {"status": call.status, "error": call.error},
        "caller_type": call.caller_kind,
        "caller": call.caller,
        "request_id": call.request_id,
    }


def _thin_out(tx: Tx, scene: Row) -> int:
    """Forget all but the newest calls of one environment."""
    where = "project_id = :project_id AND environment = :environment"
    return tx.run(
        f"DELETE FROM api_calls WHERE {where} AND id NOT IN "  # noqa: S608 - a constant
        f"(SELECT id FROM api_calls WHERE {where} ORDER BY id DESC LIMIT :kept)",
        {**scene, "kept": KEPT_PER_SCENE},
    )


def _write(service: Service, calls: Mapping[str, ApiCall]) -> None:
    """Those of projects that were deleted meanwhile are left out."""
    with service.store.write() as tx:
        known = {project_id for (project_id,) in tx.tuples("SELECT id FROM projects")}
        for call in calls.values():
            if call.scene.project_id in known:
                _CALLS.insert(tx, call, ok=int(call.ok))


_NOTED = WriteBuffer[str, ApiCall](_write)


def _log_entry(row: LogRow, _now: int) -> LogEntry:
    return row.entry("api_call", "succeeded" if row.ok else "failed", str(row.number))


LOG = LogSource(
    "api_call",
    "call",
    (token_scopes.PROJECTS_READ,),
    "api_calls",
    {
        "at": "at",
        "id": "id",
        "ok": "ok",
        "number": "status",
        "title": "method || ' ' || address",
        "text": "error",
        "took_ms": "took_ms",
        "external_user_id": "external_id",
    },
    _log_entry,
    {"succeeded": ("ok = 1",), "failed": ("ok = 0",)},
    apart=("ok = 1", "ok = 0"),
    user="external_id",
    has_app=False,
    of_user="caller_kind <> 'client'",
)
"""The calls as the logs show them."""
