"""Entries of the logs, and how tables are read for them: newest first, by who, what, outcome and time.

Each table that the logs show has a :class:`LogSource` in the module that owns it. It says by which columns rows are
found, what their outcomes mean, and how a row becomes a :class:`LogEntry`. One statement reads a page from all tables:
each part of it has an index that gives its rows in the order of the list, and the database merges them, so that it
reads no more rows than the page has. Another one counts. The list itself is left to
:mod:`webapp.service.domain.logs.logs`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.service.domain.projects.projects import Scene
from webapp.store.contract import IN_ORDER, Reader, merging

Kind = Literal["run", "api_call", "event", "delivery", "account", "agent"]
Status = Literal["succeeded", "failed", "waiting"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
MOST_COUNTED = 50
_ALONE = ("event_id", "trigger_id", "account_id")
_SUBJECTS = (*_ALONE, "component_key", "component_id")
_USER_ID = "external_user_id"
USER_NAME = "(SELECT u.external_id FROM external_users u WHERE u.id = {table}.external_user_id)"
"""The developer's id of the user of a row that has ours."""
_OF_SCENE = (
    "EXISTS (SELECT 1 FROM external_users AS u WHERE u.id = :external_user_id AND u.project_id = :project_id "
    "AND u.environment = :environment)"
)
"""Whether a user by our id is one of the scene."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry. ``at`` is in epoch milliseconds; ``title`` says what it is about, ``text`` what came of it.

    ``outcome`` is the state in the table's own words, or an HTTP status. Of a delivery, ``attempt`` counts what was
    tried, and ``next_attempt_at`` is when it is tried next (ms); of a trigger's run, ``emitted`` counts its events.
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
    agent: str | None = None
    component_key: str | None = None
    account_id: str | None = None
    trigger_id: str | None = None
    event_id: str | None = None
    attempt: int | None = None
    next_attempt_at: int | None = None
    emitted: int | None = None

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
            "attempt": self.attempt,
            "next_attempt_at": None if self.next_attempt_at is None else iso(self.next_attempt_at),
            "emitted": self.emitted,
        }


class LogRow(NamedTuple):
    """A row as a :class:`LogSource` reads it; what a table does not have is None.

    ``state`` is what the table says of how it ended, ``ok`` whether it succeeded, as 0 or 1, and ``number`` what else
    the source needs to know.
    """

    at: int
    id: str
    state: str
    ok: int
    number: int
    title: str | None
    text: str | None
    took_ms: int | None
    app: str | None
    external_user_id: str | None
    agent: str | None
    component_key: str | None
    account_id: str | None
    trigger_id: str | None
    event_id: str | None
    attempt: int | None
    next_attempt_at: int | None

    def entry(self, kind: Kind, status: Status, outcome: str) -> LogEntry:
        """The entry with all that the row says of it."""
        return LogEntry(kind, self.id, self.at, status, outcome, self.title or "", *self[6:])


_NUMBERS = frozenset({"at", "ok", "number", "took_ms", "attempt", "next_attempt_at"})
_ABSENT = {name: f"CAST(NULL AS {'BIGINT' if name in _NUMBERS else 'TEXT'})" for name in LogRow._fields}


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries of a scene: of one user, app and status, and of a time (ms, both ends included).

    A user has both ids: the developer's ``external_id``, and ours, which is "" for one that is unknown. The others are
    what an entry belongs to. With ``own``, entries are those that the user made; with ``quiet``, those are among them
    that a source usually leaves out.
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
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A part of a question: the condition for its rows in the table, with its parameters."""

    where: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LogSource:
    """How the rows of ``table`` are read as entries of one ``kind``, whose ids begin with ``prefix``.

    ``columns`` has the expression of each field of a :class:`LogRow`, and ``make`` turns a row into an entry as it is
    now. ``user`` is the column of its user, and ``subjects`` are the other columns by which rows are found, beside the
    scene and the app. ``outcomes`` has the conditions of each status, which are exclusive; together they are all rows.
    Each may use ``:now``. ``apart`` are fewer conditions that are all rows, each of which has an index in the order of
    the list; rows that one of ``together`` finds have such an index whatever their outcome. ``only`` is what is true of
    all its rows, ``usually`` of those that are not quiet, and ``of_user`` of those that a user made. One of ``scopes``
    admits to it.
    """

    kind: Kind
    prefix: str
    scopes: tuple[str, ...]
    table: str
    columns: Mapping[str, str]
    make: Callable[[LogRow, int], LogEntry]
    outcomes: Mapping[Status, tuple[str, ...]]
    apart: tuple[str, ...] = ("",)
    user: str = _USER_ID
    subjects: tuple[str, ...] = ()
    has_app: bool = True
    together: tuple[str, ...] = ()
    only: str = ""
    usually: str = ""
    of_user: str = ""

    @property
    def at(self) -> str:
        """The column of its time."""
        return self.columns["at"]

    def get(self, reader: Reader, log_filter: LogFilter, entry_id: str, now: int) -> LogEntry | None:
        """The entry ``entry_id`` if ``log_filter`` admits it, quiet or not."""
        shared = self._where(replace(log_filter, quiet=True))
        if shared is None:
            return None
        sql = f"SELECT {self.selected} FROM {self.table} WHERE id = :entry_id AND {shared.where}"  # noqa: S608
        rows = reader.tuples(sql, {**shared.params, "entry_id": entry_id})
        return self.make(LogRow(*rows[0]), now) if rows else None

    @property
    def selected(self) -> str:
        """The columns of a :class:`LogRow`."""
        return ", ".join(f"{self.columns.get(name, absent)} AS {name}" for name, absent in _ABSENT.items())

    def parts(self, log_filter: LogFilter, now: int) -> Iterator[Found]:
        """The parts of its rows that ``log_filter`` selects, each of which an index has in order."""
        shared = self._where(log_filter)
        if shared is None:
            return
        if log_filter.status is not None:
            conditions = self.outcomes.get(log_filter.status, ())
        elif any(getattr(log_filter, name) is not None for name in self.together):
            conditions = ("",)
        else:
            conditions = self.apart
        for condition in conditions:
            where = f"{shared.where} AND {condition}" if condition else shared.where
            yield Found(where, {**shared.params, **({"now": now} if ":now" in condition else {})})

    def _where(self, log_filter: LogFilter) -> Found | None:
        """The condition of all that ``log_filter`` selects but the status; None if the table can have no such rows.

        What is one user's is looked up before the user, and the user together with one of what many share. Whose it is
        is asked once, rather than of each row: else rows of another user would be read until none is left.
        """
        subjects = {name: getattr(log_filter, name) for name in _SUBJECTS}
        if any(value is not None and name not in self.subjects for name, value in subjects.items()):
            return None
        if log_filter.app is not None and not self.has_app:
            return None
        scene = asdict(log_filter.scene)
        user = log_filter.user_id if self.user == _USER_ID else log_filter.external_id
        alone = {name: subjects.pop(name) for name in _ALONE}
        chosen = {**alone, self.user: user, **subjects, "app": log_filter.app}
        params = scene | {name: value for name, value in chosen.items() if value is not None}
        names = [name for name in params if name not in scene]
        first = names[0] if names else ""
        if first in _ALONE:
            where = _if_admitted(first, self._admits(first, params))
        elif first == _USER_ID:
            where = " AND ".join([_if_admitted(first, _OF_SCENE), *(f"{name} = :{name}" for name in names[1:])])
        else:
            indexed = 2 if first == self.user else 1
            looked_up = [f"{name} = :{name}" for name in (*scene, *names[:indexed])]
            where = " AND ".join([*looked_up, *(f"({name} = :{name}) IS TRUE" for name in names[indexed:])])
        for operator, name in ((">=", "since"), ("<=", "until")):
            if (limit := getattr(log_filter, name)) is not None:
                where, params[name] = f"{where} AND {self.at} {operator} :{name}", limit
        usually = "" if log_filter.quiet else self.usually
        conditions = [where, self.only, usually, self.of_user if log_filter.own else ""]
        return Found(" AND ".join(filter(None, conditions)), params)

    def _admits(self, subject: str, params: Mapping[str, Any]) -> str:
        """Whether what all rows of one subject share is what ``params`` say, by its newest row."""
        checks = " AND ".join(f"{self.table}_of.{name} = :{name}" for name in params if name != subject)
        of = f"{self.table}_of"
        order = f"ORDER BY {of}.{self.at} DESC, {of}.id DESC LIMIT 1"
        return f"(SELECT {checks} FROM {self.table} AS {of} WHERE {of}.{subject} = :{subject} {order})"  # noqa: S608


def _if_admitted(column: str, condition: str) -> str:
    """The look-up of ``column``, which finds nothing unless ``condition`` holds, and then reads nothing either."""
    return f"{column} = CASE WHEN {condition} THEN :{column} END"


def newest(
    reader: Reader,
    sources: Collection[LogSource],
    log_filter: LogFilter,
    window: cursors.Window,
    mark: str,
    now: int,
) -> list[LogEntry]:
    """The entries of a page, and one more if there are more, in the order in which ``window`` reads.

    Raises :class:`webapp.kit.cursors.BadCursor`.
    """
    plan = cursors.keyset(window, mark, ("at", "id"), descending=True)
    numbered, arms, params = list(sources), list[str](), dict[str, Any]()
    for number, source in enumerate(numbered):
        of_source = cursors.keyset(window, mark, (source.at, "id"), descending=True)
        for part in source.parts(log_filter, now):
            selected = f"SELECT {source.selected}, {number} AS source FROM {source.table}"  # noqa: S608
            arms.append(f"{selected} WHERE {part.where}{of_source.conditions}")
            params |= part.params
    if not arms:
        return []
    # Limits are written out, so that a plan for any values knows how few rows are wanted.
    rows = reader.tuples(merging(arms, plan.order, plan.limit), {**params, **plan.params})
    return [numbered[row[-1]].make(LogRow._make(row[:-1]), now) for row in rows]


def count(reader: Reader, sources: Collection[LogSource], log_filter: LogFilter, now: int) -> dict[Kind, int]:
    """The number of entries of each kind that ``sources`` have, at most :data:`MOST_COUNTED` each."""
    arms: dict[Kind, list[str]] = {}
    params = dict[str, Any]()
    for source in sources:
        for part in source.parts(log_filter, now):
            rows = f"SELECT 1 FROM {source.table} WHERE {part.where}"  # noqa: S608
            order = f"ORDER BY {source.at} DESC, id DESC LIMIT {MOST_COUNTED}"
            arms.setdefault(source.kind, []).append(f"SELECT 1 FROM ({rows} {order}) AS part")  # noqa: S608
            params |= part.params
    counts = dict.fromkeys(KINDS, 0)
    if arms:
        sums = (
            f"(SELECT COUNT(*) FROM ({' UNION ALL '.join(parts)} LIMIT {MOST_COUNTED}) AS parts)"  # noqa: S608
            for parts in arms.values()
        )
        (row,) = reader.tuples(f"{IN_ORDER}SELECT {', '.join(sums)}", params)
        counts |= dict(zip(arms, row, strict=True))
    return counts
