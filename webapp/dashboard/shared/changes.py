"""Changes that people made, shared between web processes (table ``page_changes``).

Each process caches for a while what it read for pages. A person who changes something must see it at once, whichever
process renders the next page: so each change is counted under a name, and values cached at another count are read
again.
"""

from dataclasses import dataclass

from flask import g, has_request_context

from webapp.kit.clock import DAY, Clock
from webapp.store.contract import Store

APPS, PROJECTS = "apps", "projects"
_KEPT = 2 * DAY  # longer than anything is remembered


@dataclass(frozen=True, slots=True)
class Changes:
    """All counts. Each name is read once for a request. Unless they are ``shared``, nothing is counted."""

    store: Store
    clock: Clock
    shared: bool

    def count(self, name: str) -> int:
        """The number of changes of ``name``, only for comparing."""
        known: dict[str, int] = g.setdefault("page_changes", {}) if has_request_context() else {}
        if name not in known:
            row = self.store.one("SELECT n FROM page_changes WHERE name = :name", {"name": name})
            known[name] = row["n"] if row else 0
        return known[name]

    def add(self, name: str) -> None:
        """It has just changed."""
        if not self.shared:
            return
        now = self.clock()
        with self.store.write() as tx:
            tx.run("DELETE FROM page_changes WHERE at < :limit", {"limit": now - _KEPT})
            tx.run(
                "INSERT INTO page_changes (name, n, at) VALUES (:name, 1, :now) "
                "ON CONFLICT (name) DO UPDATE SET n = page_changes.n + 1, at = excluded.at",
                {"name": name, "now": now},
            )
        if has_request_context():
            g.setdefault("page_changes", {}).pop(name, None)
