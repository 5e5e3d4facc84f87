"""The audit log: who did what to which account, trigger, client or key. This module owns the table ``audit``.

An entry is written in the same transaction as the change. Requests, commands and pages set the actor in a context
variable (:func:`acting`); otherwise the actor is the system. Entries are never changed or deleted, and their sentences
contain no secrets.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any, Literal

from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.crypto import ordered_id
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table, indexed_condition

ActorKind = Literal["client", "user", "person", "command", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """An OAuth ``client``, an external ``user`` (by a token), a signed-in ``person``, a ``command`` or the system."""

    kind: ActorKind
    id: str


SYSTEM = Actor("system", "patchbay")
ACTOR: ContextVar[Actor] = ContextVar("actor", default=SYSTEM)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What an actor did to a subject, ``at`` epoch milliseconds. ``sentence`` describes it for operators."""

    id: str
    at: int
    project_id: str | None
    environment: str | None
    actor_kind: ActorKind
    actor: str
    external_user_id: str | None
    noun: str
    subject_id: str
    verb: str
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """The entry as the API and the command return it."""
        return {
            "id": self.id,
            "at": iso(self.at),
            "actor_type": self.actor_kind,
            "actor": self.actor,
            "noun": self.noun,
            "subject_id": self.subject_id,
            "verb": self.verb,
            "sentence": self.sentence,
            "project_id": self.project_id,
            "environment": self.environment,
            "external_user_id": self.external_user_id,
        }


_ENTRIES = Table("audit", AuditEntry)


@dataclass(frozen=True, slots=True)
class Filter:
    """Criteria for entries. ``workspace``: whether a project's entries include those without a project."""

    project_id: str | None = None
    environment: str | None = None
    noun: str | None = None
    subject_id: str | None = None
    workspace: bool = True
    actor: str | None = None


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Within the block, ``actor`` is the actor of this thread's entries."""
    token = ACTOR.set(actor)
    try:
        yield
    finally:
        ACTOR.reset(token)


def current() -> Actor:
    """The actor of this thread."""
    return ACTOR.get()


def write(
    tx: Tx,
    at: int,
    noun: str,
    subject_id: str,
    verb: str,
    sentence: str,
    *,
    project: str | None = None,
    environment: str | None = None,
    external_user_id: str | None = None,
) -> None:
    """Append an entry about what the :func:`current` actor did, in the transaction of the change."""
    actor = current()
    where = (project, environment, actor.kind, actor.id, external_user_id)
    _ENTRIES.insert(tx, AuditEntry(ordered_id("aud"), at, *where, noun, subject_id, verb, sentence))


def page(reader: Reader, filters: Filter, window: cursors.Window) -> cursors.Page[AuditEntry]:
    """A page of the entries, newest first. Raises :class:`webapp.kit.cursors.BadCursor`.

    Runs one query for each combination of project and environment, so that each can use an index, and merges the rows.
    """
    mark = cursors.fingerprint("audit", asdict(filters))
    plan = cursors.keyset(window, mark, ("at", "id"), descending=True)
    entries, total = list[AuditEntry](), 0
    for where, params in _conditions(filters):
        rest = f"{where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit"
        entries += _ENTRIES.all(reader, rest, {**params, **plan.params, "limit": plan.limit})
        total += _ENTRIES.count(reader, where, params)
    entries.sort(key=attrgetter("at", "id"), reverse=not plan.reverse)
    return cursors.page(entries[: plan.limit], window, plan, mark, attrgetter("at", "id"), total)


def nouns(reader: Reader, filters: Filter, names: Sequence[str]) -> frozenset[str]:
    """Those of ``names`` that any entry which ``filters`` select is about; one entry of each is read."""
    if not names:
        return frozenset()
    params, columns = dict[str, Any](), list[str]()
    for number, name in enumerate(names):
        entries = list[str]()
        for where, named in _conditions(replace(filters, noun=None)):
            entries.append(f"EXISTS (SELECT 1 FROM audit WHERE {where} AND noun = :noun_{number})")  # noqa: S608
            params |= named
        columns.append(" OR ".join(entries))
        params[f"noun_{number}"] = name
    (row,) = reader.tuples(f"SELECT {', '.join(columns)}", params)
    return frozenset(name for name, is_there in zip(names, row, strict=True) if is_there)


def _conditions(filters: Filter) -> list[tuple[str, dict[str, Any]]]:
    """Mutually exclusive conditions that together select the entries, with their parameters."""
    chosen = {"subject_id": filters.subject_id, "actor": filters.actor, "noun": filters.noun}
    where, params = indexed_condition({}, chosen)
    places = _places(filters)
    if not places:
        return [(where or "1 = 1", params)]
    if filters.subject_id is None and filters.actor is None:
        return [(" AND ".join([place, *([where] if where else [])]), {**named, **params}) for place, named in places]
    among = " OR ".join(f"({place})" for place, _ in places)
    named = {name: value for _, values in places for name, value in values.items()}
    return [(f"{where} AND CASE WHEN {among} THEN 1 ELSE 0 END = 1", {**named, **params})]


def _places(filters: Filter) -> list[tuple[str, dict[str, Any]]]:
    """The conditions for the project or no project, combined with those for the environment or no environment."""
    if filters.project_id is None:
        return []
    projects = [("project_id = :project", {"project": filters.project_id})]
    environments = [("environment = :environment", {"environment": filters.environment}), ("environment IS NULL", {})]
    if filters.workspace:
        projects.append(("project_id IS NULL", {}))
    if filters.environment is None:
        return [*projects]
    return [
        (f"{project} AND {place}", {**ours, **theirs}) for project, ours in projects for place, theirs in environments
    ]
