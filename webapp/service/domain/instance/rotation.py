"""Rotates the data keys while the service runs: all sealed values are sealed again, and the old keys deleted.

One transaction creates a new version for every owner, and from then on nothing is sealed with an older one
(:mod:`base.keyring`). A walk over all sealed values seals those of older versions again, a few rows in each transaction
and under the write lock, so that no refresh or reconnect is overwritten; an account's revision does not change, so none
is rejected either. Then the old versions are deleted. A rotation may be killed at any point: the next run completes it.
"""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from webapp import audit
from webapp.errors import Conflict
from webapp.kit.crypto import CannotOpen
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import attempts, credentials, events_secrets, oauth_apps
from webapp.service.domain.agents import approvals
from webapp.service.domain.base.keyring import KeyGone, box_version
from webapp.service.domain.base.service import SealedColumn, Service
from webapp.service.domain.components import file_stash, piece_stores, runs
from webapp.service.domain.deliveries import endpoints, events, signing_keys
from webapp.service.domain.instance import people
from webapp.service.domain.triggers import deployed_triggers, inbox, pending_changes, trigger_memory
from webapp.service.domain.triggers import runs as trigger_runs
from webapp.store.contract import Row, Tx

COLUMNS: tuple[SealedColumn, ...] = (
    credentials.SEALED,
    oauth_apps.SEALED,
    oauth_apps.EVENTS_SEALED,
    events_secrets.SEALED,
    attempts.SEALED,
    *runs.SEALED,
    file_stash.SEALED,
    piece_stores.SEALED,
    *endpoints.SEALED,
    events.BODY_SEALED,
    events.PART_SEALED,
    signing_keys.SEALED,
    *connect_tokens.SEALED,
    inbox.SEALED,
    *deployed_triggers.SEALED,
    pending_changes.SEALED,
    *trigger_runs.SEALED,
    *trigger_memory.SEALED,
    people.SEALED,
    approvals.SEALED,
)
BATCH = 100


@dataclass(slots=True)
class RotationReport:
    """The result of a rotation. ``unreadable`` counts values that were damaged before; they are unchanged."""

    resumed: bool
    owners: int
    resealed: dict[str, int] = field(default_factory=dict)
    unreadable: int = 0


def rotate(service: Service) -> RotationReport:
    """Give everything new data keys, or finish the rotation that was interrupted.

    Raises :class:`Conflict` while another one runs.
    """
    with _one_at_a_time(service.settings.data / ".rotating"):
        report = _begin(service)
        for column in COLUMNS:
            report.resealed.setdefault(column.table, 0)
            _walk(service, column, report)
        with service.store.write() as tx:
            service.keys.drop_old_versions(tx)
    return report


def _begin(service: Service) -> RotationReport:
    with service.store.write() as tx:
        owners, unfinished = service.keys.owners(tx), service.keys.has_old_versions(tx)
        if not unfinished:
            for owner in owners:
                service.keys.add_version(tx, owner)
            sentence = "Began to seal all with new data keys."
            audit.write(tx, service.clock(), "key", "data keys", "rotated", sentence)
    return RotationReport(unfinished, len(owners))


def _walk(service: Service, column: SealedColumn, report: RotationReport) -> None:
    """Page by page in the order of the ids. A row inserted behind the page was sealed with the newest key."""
    after = ""
    while True:
        began = time.monotonic()
        with service.store.write() as tx:  # the page is read under the lock: one read before could lack a row by now
            rows = tx.all(column.page, {"after": after, "limit": min(BATCH, column.batch)})
            for row in rows:
                _reseal(service, tx, column, row, report)
        if not rows:
            return
        after = rows[-1]["id"]
        time.sleep(max(time.monotonic() - began, 0.002))  # whoever waits for the write lock gets a turn


def _reseal(service: Service, tx: Tx, column: SealedColumn, row: Row, report: RotationReport) -> None:
    keys, place = service.keys, column.place(row["owner"], row["id"])
    version = box_version(row["sealed"]) if row["version"] is None else row["version"]
    if version == keys.newest(tx, row["owner"]):
        return
    values = {"id": row["id"]}
    try:
        if row["version"] is None:
            values["sealed"] = keys.seal_box(tx, place, keys.open_box(place, row["sealed"]))
        else:
            values["sealed"], values["version"] = keys.seal(tx, place, keys.open(place, row["sealed"], version))
    except (CannotOpen, KeyGone):
        report.unreadable += 1
        return
    report.resealed[column.table] += tx.run(column.update, values)


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict("Keys are being rotated already; wait for that to end.") from error
        yield
