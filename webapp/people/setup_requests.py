"""Users' requests that an owner set up an app, until one does. This module owns ``setup_requests``.

A user has at most one request for each app of a project; requesting it again changes nothing.
"""

from collections.abc import Iterable

from webapp.kit.clock import Clock
from webapp.store.contract import Reader, Store, Tx


def add(store: Store, clock: Clock, project_id: str, app: str, user_id: str) -> None:
    """Record that the user ``user_id`` requests the app with slug ``app``."""
    values = {"project": project_id, "app": app, "user": user_id, "now": clock()}
    with store.write() as tx:
        tx.run(
            "INSERT INTO setup_requests (project_id, app, user_id, created_at) VALUES (:project, :app, :user, :now) "
            "ON CONFLICT (project_id, app, user_id) DO NOTHING",
            values,
        )


def of_app(reader: Reader, project_id: str, app: str) -> list[tuple[str, str]]:
    """The ids and e-mail addresses of the enabled users who requested an app, the earliest first."""
    rows = reader.tuples(
        "SELECT users.id, users.email FROM setup_requests JOIN users ON users.id = setup_requests.user_id "
        "WHERE project_id = :project AND app = :app AND disabled_at IS NULL ORDER BY setup_requests.created_at, email",
        {"project": project_id, "app": app},
    )
    return [(user_id, email) for user_id, email in rows]


def counts(reader: Reader, project_id: str) -> dict[str, int]:
    """The number of requests of enabled users by app slug, the most requested first."""
    rows = reader.tuples(
        "SELECT app, COUNT(*) FROM setup_requests JOIN users ON users.id = setup_requests.user_id "
        "WHERE project_id = :project AND disabled_at IS NULL GROUP BY app ORDER BY COUNT(*) DESC, app",
        {"project": project_id},
    )
    return {app: int(count) for app, count in rows}


def clear(store: Store, project_id: str, apps: Iterable[str]) -> None:
    """Delete the requests for ``apps``, which are set up now."""
    with store.write() as tx:
        for app in apps:
            tx.run(
                "DELETE FROM setup_requests WHERE project_id = :project AND app = :app",
                {"project": project_id, "app": app},
            )


def forget(tx: Tx, project_id: str) -> None:
    """Delete the requests in a project that is being deleted."""
    tx.run("DELETE FROM setup_requests WHERE project_id = :project", {"project": project_id})
