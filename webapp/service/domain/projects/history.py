"""What happened to accounts and triggers (table ``account_history``): append-only, kept after they are gone.

Sentences never hold a secret; whoever writes one words it for the person who reads it.
"""

from dataclasses import asdict, dataclass
from typing import Any

from webapp import audit
from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.ids import ordered_id
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Row, Tx


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that happened. ``good`` tells whether it is good news."""

    id: str
    account_id: str | None
    trigger_id: str | None
    app: str | None
    at: int
    kind: str
    good: bool
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """The entry as the API shows it."""
        return {
            "id": self.id,
            "account_id": self.account_id,
            "trigger_id": self.trigger_id,
            "app": self.app,
            "at": iso(self.at),
            "kind": self.kind,
            "good": self.good,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose history it is: an account's, or a trigger's (``account_id`` is then empty, as ``app`` may be)."""

    account_id: str
    scene: Scene
    external_user_id: str
    app: str
    trigger_id: str | None = None


def write(tx: Tx, subject: Subject, at: int, kind: str, sentence: str, *, good: bool) -> None:
    """Append one entry, in the transaction that makes it true, and say in the audit whose deed it is."""
    tx.run(
        "INSERT INTO account_history (id, account_id, trigger_id, project_id, environment, external_user_id, app, at, "
        "kind, good, sentence) VALUES (:id, :account, :trigger, :project, :environment, :user, :app, :at, :kind, "
        ":good, :sentence)",
        {
            "id": ordered_id("ev"),
            "account": subject.account_id,
            "trigger": subject.trigger_id,
            "project": subject.scene.project_id,
            "environment": subject.scene.environment,
            "user": subject.external_user_id,
            "app": subject.app,
            "at": at,
            "kind": kind,
            "good": int(good),
            "sentence": sentence,
        },
    )
    audit.write(
        tx,
        at,
        "trigger" if subject.trigger_id else "account",
        subject.trigger_id or subject.account_id,
        kind,
        sentence,
        **subject.scene.params,
        external_user_id=subject.external_user_id,
    )


def drop_user(tx: Tx, external_user_id: str) -> int:
    """Forget what happened to the things of a user who goes, since it names them; how many entries there were."""
    return tx.run("DELETE FROM account_history WHERE external_user_id = :user", {"user": external_user_id})


def of_account(reader: Reader, account_id: str, window: cursors.Window) -> cursors.Page[HistoryEntry]:
    """The history of one account, newest first; the caller has loaded it through its owner."""
    return _page(reader, window, "account_id = :account", {"account": account_id})


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries of a scene: of one of its users (by our id), one app, one account, one trigger, one kind."""

    external_user_id: str | None = None
    app: str | None = None
    account_id: str | None = None
    trigger_id: str | None = None
    kind: str | None = None


def of_scene(reader: Reader, scene: Scene, window: cursors.Window, wanted: Filter) -> cursors.Page[HistoryEntry]:
    """What happened in a scene, newest first."""
    where, params = "project_id = :project AND environment = :environment", dict[str, Any]()
    params.update(project=scene.project_id, environment=scene.environment)
    for column, value in asdict(wanted).items():
        if value is not None:
            where, params[column] = f"{where} AND {column} = :{column}", value
    return _page(reader, window, where, params)


def _page(reader: Reader, window: cursors.Window, where: str, params: dict[str, Any]) -> cursors.Page[HistoryEntry]:
    mark = cursors.fingerprint("history", where, params)
    plan = cursors.keyset(window, mark, ("at", "id"), descending=True)
    rows = reader.all(
        f"SELECT * FROM account_history WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",  # noqa: S608
        {**params, **plan.params, "limit": plan.limit},
    )
    total = reader.one(f"SELECT COUNT(*) AS n FROM account_history WHERE {where}", params)  # noqa: S608
    found = [_entry(row) for row in rows]
    return cursors.page(found, window, plan, mark, lambda e: (e.at, e.id), total["n"] if total else 0)


def _entry(row: Row) -> HistoryEntry:
    return HistoryEntry(
        id=row["id"],
        account_id=row["account_id"] or None,
        trigger_id=row["trigger_id"],
        app=row["app"] or None,
        at=row["at"],
        kind=row["kind"],
        good=bool(row["good"]),
        sentence=row["sentence"],
    )
