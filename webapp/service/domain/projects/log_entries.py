"""Entries of the logs, and how a table is read for them: newest first, by who, what, outcome and time.

Each table that the logs show has a :class:`LogSource` in the module that owns it. It says by which columns rows are
found, what their outcomes mean, and how a row becomes a :class:`LogEntry`. A source asks once for each outcome, so that
one index answers in the order of the list, however many rows of others there are; the answers are merged by time and
id. The list over all sources is left to :mod:`webapp.service.domain.logs.logs`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, Literal

from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import Reader
from webapp.store.table import by_one_index

Kind = Literal["run", "api_call", "event", "delivery", "account", "agent"]
Status = Literal["succeeded", "failed", "waiting"]
KINDS: tuple[Kind, ...] = ("run", "api_call", "event", "delivery", "account", "agent")
STATUSES: tuple[Status, ...] = ("succeeded", "failed", "waiting")
MOST_COUNTED = 100
_SUBJECTS = ("event_id", "trigger_id", "account_id", "component_key", "component_id")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry. ``at`` is in epoch milliseconds; ``title`` says what it is about, ``text`` what came of it.

    ``outcome`` is the state in the table's own words, or an HTTP status. ``user_id`` is our id of the user, where the
    table has no ``external_user_id``.
    """

    kind: Kind
    id: str
    at: int
    status: Status
    outcome: str
    title: str
    text: str | None = None
    took_ms: int | None = None
    app: str | None = None
    external_user_id: str | None = None
    user_id: str | None = None
    agent: str | None = None
    component_key: str | None = None
    account_id: str | None = None
    trigger_id: str | None = None
    event_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The entry as the API shows it."""
        return {
            "kind": self.kind,
            "id": self.id,
            "at": iso(self.at),
            "status": self.status,
            "outcome": self.outcome,
            "title": self.title,
            "text": self.text,
            "took_ms": self.took_ms,
            "app": self.app,
            "external_user_id": self.external_user_id,
            "agent": self.agent,
            "component_key": self.component_key,
            "account_id": self.account_id,
            "trigger_id": self.trigger_id,
            "event_id": self.event_id,
        }


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries of a scene: of one user, app and status, and of a time (ms, both ends included).

    A user has both ids: the developer's ``external_id``, and ours, which is "" for one that is unknown. The others are
    what an entry belongs to. With ``own``, entries are those that the user made.
    """

    scene: Scene
    external_id: str | None = None
    user_id: str | None = None
    app: str | None = None
    status: Status | None = None
    since: int | None = None
    until: int | None = None
    event_id: str | None = None
    trigger_id: str | None = None
    account_id: str | None = None
    component_key: str | None = None
    component_id: str | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A part of a question: the condition for its rows in the table, with its parameters."""

    where: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LogSource:
    """How the rows of ``table`` are read as entries of one ``kind``, whose ids begin with ``prefix``.

    ``columns`` are selected, and ``make`` turns their values into an entry as it is now; ``at`` is the column of its
    time. ``user`` and ``subjects`` are the columns by which rows are found; those in ``alone`` have an index that does
    not begin with the scene, those in ``without_outcome`` one that does not tell the outcome. ``outcomes`` has the
    conditions of each status, which are exclusive; together they are all rows. Each condition may use ``:now``.
    ``only`` is what is true of all its rows, and ``of_user`` of those that a user made. One of ``scopes`` admits to it.
    """

    kind: Kind
    prefix: str
    scopes: tuple[str, ...]
    table: str
    columns: str
    make: Callable[[Sequence[Any], int], LogEntry]
    outcomes: Mapping[Status, tuple[str, ...]]
    at: str = "at"
    user: str = "external_user_id"
    subjects: tuple[str, ...] = ()
    has_app: bool = True
    alone: tuple[str, ...] = ()
    without_outcome: tuple[str, ...] = ()
    only: str = ""
    of_user: str = ""

    def newest(
        self, reader: Reader, log_filter: LogFilter, window: cursors.Window, mark: str, now: int
    ) -> list[LogEntry]:
        """The entries of a page, and one more if there are more, in the order in which ``window`` reads.

        Raises :class:`webapp.kit.cursors.BadCursor`.
        """
        plan = cursors.keyset(window, mark, (self.at, "id"), descending=True)
        entries = list[LogEntry]()
        for part in self._parts(log_filter, now):
            sql = (
                f"SELECT {self.columns} FROM {self.table} WHERE {part.where}{plan.conditions} "  # noqa: S608
                f"ORDER BY {plan.order} LIMIT :limit"
            )
            params = {**part.params, **plan.params, "limit": plan.limit}
            entries += (self.make(row, now) for row in reader.tuples(sql, params))
        return ordered(entries, plan)

    def count(self, reader: Reader, log_filter: LogFilter, now: int, most: int = MOST_COUNTED) -> int:
        """The number of entries, at most ``most``."""
        counted = 0
        for part in self._parts(log_filter, now):
            order = f"{self.at} DESC, id DESC LIMIT :most"
            sql = f"SELECT 1 FROM {self.table} WHERE {part.where} ORDER BY {order}"  # noqa: S608
            counted += len(reader.tuples(sql, {**part.params, "most": most - counted}))
            if counted >= most:
                break
        return counted

    def get(self, reader: Reader, log_filter: LogFilter, entry_id: str, now: int) -> LogEntry | None:
        """The entry ``entry_id`` if ``log_filter`` admits it."""
        shared = self._where(log_filter)
        if shared is None:
            return None
        where = f"id = :entry_id AND {shared.where}"
        sql = f"SELECT {self.columns} FROM {self.table} WHERE {where}"  # noqa: S608
        rows = reader.tuples(sql, {**shared.params, "entry_id": entry_id})
        return self.make(rows[0], now) if rows else None

    def _parts(self, log_filter: LogFilter, now: int) -> Iterator[Found]:
        shared = self._where(log_filter)
        statuses = (log_filter.status,) if log_filter.status else STATUSES
        if shared is None:
            return
        checked = any(getattr(log_filter, name) is not None for name in self.without_outcome)
        for status in statuses:
            for outcome in self.outcomes.get(status, ()):
                condition = f"CASE WHEN {outcome} THEN 1 ELSE 0 END = 1" if checked else outcome  # no index has it
                where = f"{shared.where} AND {condition}" if condition else shared.where
                yield Found(where, {**shared.params, **({"now": now} if ":now" in condition else {})})

    def _where(self, log_filter: LogFilter) -> Found | None:
        """The condition of all that ``log_filter`` selects but the status; None if the table can have no such rows."""
        chosen: dict[str, Any] = {}
        for name in _SUBJECTS:
            value = getattr(log_filter, name)
            if value is not None and name not in self.subjects:
                return None
            chosen[name] = value
        if log_filter.app is not None and not self.has_app:
            return None
        chosen[self.user] = log_filter.external_id if self.user == "external_id" else log_filter.user_id
        chosen["app"] = log_filter.app
        where, params = by_one_index(asdict(log_filter.scene), chosen, alone=self.alone)
        for operator, name in ((">=", "since"), ("<=", "until")):
            if (limit := getattr(log_filter, name)) is not None:
                where, params[name] = f"{where} AND {self.at} {operator} :{name}", limit
        conditions = [where, self.only, self.of_user if log_filter.own else ""]
        return Found(" AND ".join(filter(None, conditions)), params)


def ordered(entries: list[LogEntry], plan: cursors.Keyset) -> list[LogEntry]:
    """``entries`` in the order of ``plan``, as many as it asks for."""
    return sorted(entries, key=attrgetter("at", "id"), reverse=not plan.reverse)[: plan.limit]
