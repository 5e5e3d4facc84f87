"""The activity of accounts and triggers (table ``account_history``): append-only, and kept after they are deleted.

Each entry goes to the audit log as well. Sentences never contain a secret.
"""

from dataclasses import asdict, dataclass
from typing import Any

from webapp import audit
from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.crypto import ordered_id
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects.log_entries import USER_NAME, LogEntry, LogRow, LogSource
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table, indexed_condition


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """An event of an account or a trigger: ``account_id`` is "" for the latter, as ``app`` may be.

    ``good`` says whether it is good news.
    """

    id: str
    account_id: str
    trigger_id: str | None
    scene: Scene
    external_user_id: str
    app: str
    at: int
    kind: str
    good: bool
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """The entry as the API shows it."""
        return {
            "id": self.id,
            "account_id": self.account_id or None,
            "trigger_id": self.trigger_id,
            "app": self.app or None,
            "at": iso(self.at),
            "kind": self.kind,
            "good": self.good,
            "sentence": self.sentence,
        }


_ENTRIES = Table("account_history", ActivityEntry)


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
    where = (subject.account_id, subject.trigger_id, subject.scene, subject.external_user_id, subject.app)
    _ENTRIES.insert(tx, ActivityEntry(ordered_id("ev"), *where, at, kind, good, sentence))
    audit.write(
        tx,
        at,
        "trigger" if subject.trigger_id else "account",
        subject.trigger_id or subject.account_id,
        kind,
        sentence,
        project=subject.scene.project_id,
        environment=subject.scene.environment,
        external_user_id=subject.external_user_id,
    )


def drop_user(tx: Tx, external_user_id: str) -> int:
    """Delete the entries about a deleted user, which name them; return their number."""
    return tx.run("DELETE FROM account_history WHERE external_user_id = :user", {"user": external_user_id})


def of_account(reader: Reader, account_id: str, window: cursors.Window) -> cursors.Page[ActivityEntry]:
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


def of_scene(reader: Reader, scene: Scene, window: cursors.Window, filters: Filter) -> cursors.Page[ActivityEntry]:
    """The activity of a scene, newest first."""
    chosen = {name: getattr(filters, name) for name in ("account_id", "trigger_id", "external_user_id", "app", "kind")}
    where, params = indexed_condition(asdict(scene), chosen, alone=("account_id", "trigger_id", "external_user_id"))
    return _page(reader, window, where, params)


def _page(reader: Reader, window: cursors.Window, where: str, params: dict[str, Any]) -> cursors.Page[ActivityEntry]:
    return _ENTRIES.page(reader, window, where, params, order=("at", "id"), descending=True)


def _log_entry(row: LogRow, _now: int) -> LogEntry:
    return row.entry("account", "succeeded" if row.ok else "failed", row.state)


LOG = LogSource(
    "account",
    "ev",
    (token_scopes.ACCOUNTS_READ,),
    "account_history",
    {
        "at": "at",
        "id": "id",
        "state": "kind",
        "ok": "good",
        "title": "sentence",
        "app": "NULLIF(app, '')",
        "external_user_id": USER_NAME.format(table="account_history"),
        "account_id": "NULLIF(account_id, '')",
        "trigger_id": "trigger_id",
    },
    _log_entry,
    {"succeeded": ("good = 1",), "failed": ("good = 0",)},
    subjects=("trigger_id", "account_id"),
)
"""The entries as the logs show them."""
