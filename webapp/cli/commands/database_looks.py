"""What ``patchbay check`` says of the database: its file, its schema, its key, its room, and what fills it."""

from collections.abc import Iterator
from contextlib import closing
from typing import Literal

from webapp import quotas as limits
from webapp.errors import Damaged
from webapp.kit.clock import now
from webapp.service.domain.base.keyring import WeakKey, is_weak
from webapp.service.domain.deliveries import stats
from webapp.service.domain.instance import instance_key
from webapp.service.domain.triggers import deployed_triggers
from webapp.settings import Settings
from webapp.store.contract import Store, megabytes
from webapp.store.sqlite import SQLiteStore
from webapp.store.stores import exists, open_store

Verdict = Literal["ok", "note", "problem"]
Looks = Iterator[tuple[Verdict, str]]
_STANDING = (
    (limits.USER_TRIGGERS, "The user with the most triggers has"),
    (limits.PROJECT_TRIGGERS, "The project with the most triggers has"),
    (limits.TRIGGER_MB, "The trigger with the most MB of events keeps"),
    (limits.USER_MB, "The user with the most MB of events keeps"),
)


def database(settings: Settings) -> Looks:
    """Whether the file is sound, its schema ours, and the key its own."""
    if not exists(settings):
        yield "note", "There is no database yet; `patchbay serve` makes it."
        if settings.secret_key and is_weak(settings.secret_key):
            yield "problem", str(WeakKey())
        return
    with closing(open_store(settings)) as store:
        server = store.server()
        if server:
            yield "ok", f"The database is that of {server}."
        if faults := store.faults():
            advice = "Mend it, or restore a copy." if server else Damaged().message
            yield "problem", f"{advice} What {'the server' if server else 'SQLite'} says: {'; '.join(faults)}"
            return
        if not server:
            yield "ok", "The file is sound."
        pending = store.pending()
        if pending:
            yield "note", f"{len(pending)} migrations wait; `patchbay serve` and `patchbay migrate` apply them."
            return
        yield "ok", "The schema is up to date."
        yield from _months(store)
        instance_key.proven(settings, store, now)
        yield "ok", "The instance key opens it."
        if settings.secret_key and is_weak(settings.secret_key):
            yield "note", f"{WeakKey()} Change it with `patchbay keys rotate --instance`, while nothing runs."


def _months(store: Store) -> Looks:
    """Whether events have a month to come into, where they are kept by months."""
    if store.months is None:
        return
    if missing := store.months.missing(now()):
        yield (
            "note",
            f"The tables of {' and '.join(missing)} are missing. A worker makes them within ten minutes, and `patchbay "
            "migrate` at once; no event is lost meanwhile.",
        )
    if astray := store.months.strays():
        yield "note", f"{astray:,} events came while the tables of their month were missing; they go one by one."


def disk(settings: Settings) -> Looks:
    """How much room it takes, and how much is left."""
    if not exists(settings):
        return
    with closing(open_store(settings)) as store:
        sizes, shrinks = store.sizes(), not isinstance(store, SQLiteStore) or store.shrinks()
    log = "" if store.folder is None else f", its log {megabytes(sizes.log)}"
    free = "" if sizes.free is None else f" {megabytes(sizes.free)} are free in {settings.data}."
    yield "ok", f"The database has {megabytes(sizes.database)}{log}.{free}"
    if not shrinks:
        yield (
            "note",
            "The file keeps the room of what was forgotten: run `patchbay compact` once, while nothing runs.",
        )
    if sizes.log_is_large:
        yield "note", "The log cannot be folded: end the program that has been reading the database for long."
    if sizes.room_is_short:
        yield "note", "Little room is left; make some before nothing can be written."


def quotas(settings: Settings) -> Looks:
    """How near the fullest are to their quotas."""
    if not exists(settings):
        return
    with closing(open_store(settings)) as store:
        if store.pending():
            return
        held = (*deployed_triggers.fullest(store), *stats.most_kept(store))
    for (quota, words), count in zip(_STANDING, held, strict=True):
        limit, number = settings.quotas[quota.name], count // quota.unit
        full = number >= limit
        raised = f" Raise PATCHBAY_{quota.name} if that is too few." if full else ""
        yield "note" if full else "ok", f"{words} {number:,} of {limit:,}.{raised}"
