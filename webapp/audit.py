"""Who did what to which account, trigger, client or key (table ``audit``): appended in the transaction of the deed.

Who acts is known where a request, a command or a page begins, and is carried to the deed by a context variable
(:func:`acting`); what happens without anybody's doing is the system's. Nothing here is ever changed or removed, and
no sentence holds a secret.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from webapp.kit import cursors
from webapp.kit.clock import iso
from webapp.kit.ids import ordered_id
from webapp.store.contract import Reader, Row, Tx

ActorKind = Literal["client", "user", "person", "command", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: an OAuth ``client``, an external ``user`` by a Connect token, a signed-in ``person``, a ``command``."""

    kind: ActorKind
    id: str


SYSTEM = Actor("system", "patchbay")
_actor: ContextVar[Actor] = ContextVar("actor", default=SYSTEM)


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done to what. ``sentence`` is for the operator who reads it later."""

    noun: str
    subject_id: str
    verb: str
    sentence: str
    project_id: str | None = None
    environment: str | None = None
    external_user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One deed as it was written down, at a time in epoch milliseconds."""

    id: str
    at: int
    actor: Actor
    deed: Deed

    def to_json(self) -> dict[str, Any]:
        """The entry as the API and the command show it."""
        return {
            "id": self.id,
            "at": iso(self.at),
            "actor_type": self.actor.kind,
            "actor": self.actor.id,
            "noun": self.deed.noun,
            "subject_id": self.deed.subject_id,
            "verb": self.deed.verb,
            "sentence": self.deed.sentence,
            "project_id": self.deed.project_id,
            "environment": self.deed.environment,
            "external_user_id": self.deed.external_user_id,
        }


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
    """Whatever this thread does within the block is the deed of ``actor``."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def current() -> Actor:
    """Who acts now."""
    return _actor.get()


def write(tx: Tx, at: int, deed: Deed) -> None:
    """Append ``deed``, in the transaction that makes it true."""
    actor = current()
    tx.run(
        "INSERT INTO audit (id, at, project_id, environment, actor_kind, actor, external_user_id, noun, subject_id, "
        "verb, sentence) VALUES (:id, :at, :project, :environment, :kind, :actor, :user, :noun, :subject, :verb, "
        ":sentence)",
        {
            "id": ordered_id("aud"),
            "at": at,
            "project": deed.project_id,
            "environment": deed.environment,
            "kind": actor.kind,
            "actor": actor.id,
            "user": deed.external_user_id,
            "noun": deed.noun,
            "subject": deed.subject_id,
            "verb": deed.verb,
            "sentence": deed.sentence,
        },
    )


def page(reader: Reader, wanted: Filter, window: cursors.Window) -> cursors.Page[Entry]:
    """Deeds, newest first. Raises :class:`webapp.kit.cursors.BadCursor`."""
    where, params = _where(wanted)
    mark = cursors.fingerprint("audit", where, params)
    plan = cursors.keyset(window, mark, ("at", "id"), descending=True)
    rows = reader.all(
        f"SELECT * FROM audit WHERE {where}{plan.conditions} ORDER BY {plan.order} LIMIT :limit",  # noqa: S608
        {**params, **plan.params, "limit": plan.limit},
    )
    total = reader.one(f"SELECT COUNT(*) AS n FROM audit WHERE {where}", params)  # noqa: S608
    found = [_entry(row) for row in rows]
    return cursors.page(found, window, plan, mark, lambda one: (one.at, one.id), total["n"] if total else 0)


def _where(wanted: Filter) -> tuple[str, dict[str, Any]]:
    conditions, params = ["1 = 1"], dict[str, Any]()
    if wanted.project_id is not None:
        conditions.append(
            "(project_id = :project OR project_id IS NULL)" if wanted.workspace else "project_id = :project"
        )
        params["project"] = wanted.project_id
    if wanted.environment is not None:
        conditions.append("(environment = :environment OR environment IS NULL)")
        params["environment"] = wanted.environment
    for column in ("noun", "subject_id", "actor"):
        value = getattr(wanted, column)
        if value is not None:
            conditions.append(f"{column} = :{column}")
            params[column] = value
    return " AND ".join(conditions), params


def _entry(row: Row) -> Entry:
    deed = Deed(
        noun=row["noun"],
        subject_id=row["subject_id"],
        verb=row["verb"],
        sentence=row["sentence"],
        project_id=row["project_id"],
        environment=row["environment"],
        external_user_id=row["external_user_id"],
    )
    return Entry(row["id"], row["at"], Actor(row["actor_kind"], row["actor"]), deed)
