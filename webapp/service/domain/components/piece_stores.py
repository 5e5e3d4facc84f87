"""The ``store`` of integrations' actions: values that they keep between runs (table ``piece_stores``).

Each integration has one for each external user of a scene, and cannot read others. It is one sealed JSON object, and is
deleted with the user, the project, or the integration. The store of a trigger is deleted with the trigger.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from webapp import quotas
from webapp.errors import PatchbayError, TooLarge
from webapp.service.components.calls import ErrorInfo, Observation, Reply
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.components import runs
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table

MAX_BYTES = 256 * 1024
SEALED = SealedColumn("piece_stores", "values_sealed")


@dataclass(frozen=True, slots=True)
class PieceStore:
    """One row but for its values; ``changed_at`` is in epoch milliseconds, ``size`` in bytes."""

    id: str
    project_id: str
    external_user_id: str
    package: str
    size: int
    changed_at: int


_STORES = Table("piece_stores", PieceStore, write_only=("values_sealed",))


def values(service: Service, request: ComponentRequest) -> dict[str, Any]:
    """The values of the integration for the user of the call; empty for other components."""
    package = piece_hosts.package_of(str(request.component.path))
    user = external_users.find(service.store, request.scene, request.external_id) if package else None
    return _read(service, service.store, user, package) if user else {}


def kept(service: Service, request: ComponentRequest, reply: Reply, run_id: str) -> Reply:
    """``reply`` of a run, with the changes of its store written; or a failed one if the store has no room for them."""
    package = piece_hosts.package_of(str(request.component.path)) if reply.state else ""
    if not package:
        return reply
    try:
        _keep(service, request, package, reply.state, run_id)
    except PatchbayError as error:
        info = ErrorInfo("exception", "StoreError", f"Its data was not saved. {error.message}")
        line = Observation("error", service.clock(), err=info)
        return replace(reply, value=None, error=reply.error or info, observations=(*reply.observations, line))
    return reply


def forget(tx: Tx, package: str) -> None:
    """Delete all values of the integration of that npm package, for all users."""
    tx.run("DELETE FROM piece_stores WHERE package = :package", {"package": package})


def _keep(service: Service, request: ComponentRequest, package: str, changes: Mapping[str, Any], run_id: str) -> None:
    """Write ``changes`` by name; a value of None deletes one.

    Nothing is kept if the user or the project was deleted since. Raises :class:`TooLarge`.
    """
    with service.store.write() as tx:
        if not runs.exists(tx, run_id):
            return
        user = external_users.ensure(tx, request.scene, request.external_id, service.clock())
        whole = {**_read(service, tx, user, package), **changes}
        content = orjson.dumps({name: value for name, value in whole.items() if value is not None})
        row = _id(user, package)
        if content == b"{}":
            _STORES.delete(tx, row)
            return
        if len(content) > MAX_BYTES:
            raise TooLarge("An integration keeps at most 256 KiB for a user.")
        service.check_quota(quotas.USER_STORE_KB, _kept_by_others(tx, user, package) + len(content))
        place = (user.scene.project_id, user.id, package)
        sealed = SEALED.seal(service, tx, user.scene.project_id, row, content)
        _STORES.upsert(tx, PieceStore(row, *place, len(content), service.clock()), keep=(), values_sealed=sealed)


def _read(service: Service, reader: Reader, user: ExternalUser, package: str) -> dict[str, Any]:
    row = _id(user, package)
    sealed = reader.tuples("SELECT values_sealed FROM piece_stores WHERE id = :id", {"id": row})
    if not sealed:
        return {}
    content: dict[str, Any] = orjson.loads(SEALED.open(service, user.scene.project_id, row, sealed[0][0]))
    return content


def _kept_by_others(reader: Reader, user: ExternalUser, package: str) -> int:
    """The number of bytes that other integrations keep for ``user``."""
    sql = "SELECT COALESCE(SUM(size), 0) FROM piece_stores WHERE external_user_id = :user AND package <> :package"
    return int(reader.tuples(sql, {"user": user.id, "package": package})[0][0])


def _id(user: ExternalUser, package: str) -> str:
    return f"{user.id} {package}"
