"""What people marked on the checklist of a new installation. This module owns ``checklist_marks``.

A person hides the checklist for themselves. A step that no other table tells of is marked by one person for everybody.
Which steps there are, and how the others are known to be done, is left to the dashboard.
"""

from webapp.kit.clock import Clock
from webapp.store.contract import Reader, Store

HIDDEN = "hidden"


def is_hidden(reader: Reader, user_id: str) -> bool:
    """Whether this person hid the checklist."""
    return (
        reader.one(
            "SELECT 1 AS n FROM checklist_marks WHERE user_id = :user AND mark = :mark",
            {"user": user_id, "mark": HIDDEN},
        )
        is not None
    )


def marked(reader: Reader) -> frozenset[str]:
    """The steps that anybody marked as done."""
    rows = reader.all("SELECT DISTINCT mark FROM checklist_marks WHERE mark <> :mark", {"mark": HIDDEN})
    return frozenset(str(row["mark"]) for row in rows)


def mark(store: Store, clock: Clock, user_id: str, name: str) -> None:
    """Mark a step as done, or hide the checklist with :data:`HIDDEN`; once is enough."""
    with store.write() as tx:
        tx.run(
            "INSERT INTO checklist_marks (user_id, mark, made_at) VALUES (:user, :mark, :now)"
            " ON CONFLICT (user_id, mark) DO NOTHING",
            {"user": user_id, "mark": name, "now": clock()},
        )


def unmark(store: Store, name: str, *, user_id: str | None = None) -> None:
    """Remove a mark: of one person, or of everybody."""
    with store.write() as tx:
        if user_id is None:
            tx.run("DELETE FROM checklist_marks WHERE mark = :mark", {"mark": name})
        else:
            tx.run(
                "DELETE FROM checklist_marks WHERE user_id = :user AND mark = :mark", {"user": user_id, "mark": name}
            )
