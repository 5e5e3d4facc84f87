"""The audit (table ``audit``): who did what to which account, trigger, client or key.

An entry is appended in the transaction that makes it true. Who acts is known where a request, a command or a page
begins, and a context variable carries it (:func:`acting`); what nobody asked for is done by the system. Entries are
never changed or removed, and no sentence holds a secret.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, Literal

from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.crypto import ordered_id
from webapp.store.contract import Reader, Tx
from webapp.store.table import Table, by_one_index

ActorKind = Literal["client", "user", "person", "command", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: an OAuth ``client``, an external ``user`` by a Connect token, a signed-in ``person``, a ``command``."""

    kind: ActorKind
    id: str


SYSTEM = Actor("system", "patchbay")
ACTOR: ContextVar[Actor] = ContextVar("actor", default=SYSTEM)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What somebody did to what, at a time in epoch milliseconds. ``sentence`` is for the operator who reads it."""

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
        """The entry as the API and the command show it."""
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
    """Which entries. ``workspace``: whether those that belong to no project are among a project's."""

    project_id: str | None = None
    environment: str | None = None
    noun: str | None = None
    subject_id: str | None = None
    workspace: bool = True
    actor: str | None = None


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Whatever this thread does within the block is done by ``actor``."""
    token = ACTOR.set(actor)
    try:
        yield
    finally:
        ACTOR.reset(token)


def current() -> Actor:
    """Who acts now."""
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
    """Append what :func:`current` did to a subject of ``project``, in the transaction that makes it true."""
    actor = current()
    where = (project, environment, actor.kind, actor.id, external_user_id)
    _ENTRIES.insert(tx, AuditEntry(ordered_id("aud"), at, *where, noun, subject_id, verb, sentence))


def page(reader: Reader, filters: Filter, window: cursors.Window) -> cursors.Page[AuditEntry]:
    """Entries, newest first. Raises :class:`webapp.kit.cursors.BadCursor`.

    They are read place by place, each by one index in its order, and merged.
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


def _conditions(filters: Filter) -> list[tuple[str, dict[str, Any]]]:
    """Conditions that exclude each other and together find the entries, with their parameters."""
    chosen = {"subject_id": filters.subject_id, "actor": filters.actor, "noun": filters.noun}
    where, params = by_one_index({}, chosen)
    places = _places(filters)
    if not places:
        return [(where or "1 = 1", params)]
    if filters.subject_id is None and filters.actor is None:
        return [(" AND ".join([place, *([where] if where else [])]), {**named, **params}) for place, named in places]
    among = " OR ".join(f"({place})" for place, _ in places)
    named = {name: value for _, values in places for name, value in values.items()}
    return [(f"{where} AND CASE WHEN {among} THEN 1 ELSE 0 END = 1", {**named, **params})]


def _places(filters: Filter) -> list[tuple[str, dict[str, Any]]]:
    """Where entries stand that are wanted: in the project, and in no project; in the environment, and in none."""
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
