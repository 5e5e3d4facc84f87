"""Large bodies of requests (table ``body_parts``): sealed in parts, so that none is in memory more often than once.

A part goes with the event, or the waiting request, that it belongs to.
"""

from typing import Literal

from webapp.service.domain.base.service import SealedColumn, Service
from webapp.store.contract import Tx

PART = 256 * 1024
SEALED = SealedColumn("body_parts", "part_sealed", batch=20)
Owner = Literal["event_id", "request_id"]


def keep(tx: Tx, service: Service, project_id: str, owner: Owner, owner_id: str, content: bytes) -> None:
    """Keep ``content`` for the event or request ``owner_id``, which stands already."""
    view = memoryview(content)
    for number, start in enumerate(range(0, len(content), PART)):
        part_id = f"{owner_id}.{number:05d}"
        sealed = SEALED.seal(service, tx, project_id, part_id, bytes(view[start : start + PART]))
        tx.run(
            f"INSERT INTO body_parts (id, project_id, {owner}, part_sealed) VALUES (:id, :project, :owner, :sealed)",  # noqa: S608
            {"id": part_id, "project": project_id, "owner": owner_id, "sealed": sealed},
        )


def read(service: Service, project_id: str, owner: Owner, owner_id: str) -> bytes:
    """The whole body. Raises ``LookupError`` when it is gone."""
    sql = f"SELECT id FROM body_parts WHERE {owner} = :owner ORDER BY id"  # noqa: S608
    ids = [part_id for (part_id,) in service.store.tuples(sql, {"owner": owner_id})]
    if not ids:
        raise LookupError(f"the body of {owner_id} is gone")
    return b"".join(_opened(service, project_id, part_id) for part_id in ids)


def _opened(service: Service, project_id: str, part_id: str) -> bytes:
    row = service.store.one("SELECT part_sealed FROM body_parts WHERE id = :id", {"id": part_id})
    if row is None:
        raise LookupError(f"the part {part_id} is gone")
    return SEALED.open(service, project_id, part_id, row["part_sealed"])
