"""Origins of pages that showed a Connect token which does not allow them, so that a developer learns what to add to
``allowed_origins``. This module owns the table ``refused_origins``.

The last few of an environment are kept, without anything about visitors.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass

from webapp.errors import Unavailable
from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene

MAX_KEPT = 20
MAX_LENGTH = 300
REMEMBERED = 30 * DAY
_SEEN_AGAIN = MINUTE  # later than this a repetition is written down
_CROWDED = HOUR  # when as many as are kept are younger, the next is somebody's game
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RefusedOrigin:
    """One origin, and when it was refused last (epoch milliseconds)."""

    origin: str
    seen_at: int


def note(service: Service, scene: Scene, origin: str) -> None:
    """Record that a page of ``origin`` was refused, and log a new origin.

    Origins recorded within the last minute are skipped, as are new ones beyond the limit of an hour. A busy store does
    not fail the request.
    """
    now = service.clock()
    known = {refused.origin: refused.seen_at for refused in latest(service, scene)}
    crowded = len(known) >= MAX_KEPT and now - min(known.values()) < _CROWDED
    if len(origin) > MAX_LENGTH or now - known.get(origin, 0) < _SEEN_AGAIN or (crowded and origin not in known):
        return
    if origin not in known:
        log.warning(
            "A page of %s showed a Connect token that does not allow it; make tokens with it in allowed_origins.",
            origin,
        )
    with suppress(Unavailable), service.store.write() as tx:
        tx.run(
            "INSERT INTO refused_origins (project_id, environment, origin, seen_at) "
            "VALUES (:project, :environment, :origin, :now) "
            "ON CONFLICT (project_id, environment, origin) DO UPDATE SET seen_at = excluded.seen_at",
            {**scene.params, "origin": origin, "now": now},
        )
        tx.run(
            "DELETE FROM refused_origins WHERE project_id = :project AND environment = :environment "
            "AND origin NOT IN (SELECT origin FROM refused_origins WHERE project_id = :project "
            "AND environment = :environment ORDER BY seen_at DESC, origin LIMIT :kept)",
            {**scene.params, "kept": MAX_KEPT},
        )


def purge(service: Service) -> int:
    """Forget those that were refused last more than 30 days ago; how many there were."""
    limit = {"limit": service.clock() - REMEMBERED}
    if service.store.one("SELECT 1 FROM refused_origins WHERE seen_at <= :limit LIMIT 1", limit) is None:
        return 0
    with service.store.write() as tx:
        return tx.run("DELETE FROM refused_origins WHERE seen_at <= :limit", limit)


def latest(service: Service, scene: Scene) -> list[RefusedOrigin]:
    """The origins that were refused within 30 days, the latest first."""
    rows = service.store.all(
        "SELECT origin, seen_at FROM refused_origins WHERE project_id = :project AND environment = :environment "
        "AND seen_at > :since ORDER BY seen_at DESC, origin",
        {**scene.params, "since": service.clock() - REMEMBERED},
    )
    return [RefusedOrigin(row["origin"], row["seen_at"]) for row in rows]
