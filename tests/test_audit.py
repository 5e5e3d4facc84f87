"""Entries are written with whoever acts, in the transaction that makes them true, and read newest first."""

import threading

import pytest

from webapp import audit
from webapp.audit import Actor, Filter
from webapp.kit.cursors import Window
from webapp.store.sqlite import SQLiteStore

CLIENT = Actor("client", "c1")


def write(store: SQLiteStore, at: int, **changes: str) -> None:
    entry = {"noun": "account", "subject_id": "apn_1", "verb": "renamed", "sentence": "Renamed."} | changes
    with store.write() as tx:
        audit.write(tx, at, **entry)


def read(store: SQLiteStore, **wanted: object) -> list[audit.AuditEntry]:
    page = audit.page(store, Filter(**wanted), Window())  # type: ignore[arg-type]
    assert page.total_count == len(page.items)
    return list(page.items)


def test_who_acts_is_known_within_its_block_and_thread_only(store: SQLiteStore) -> None:
    with audit.acting(CLIENT):
        write(store, 1)
        other = threading.Thread(target=write, args=(store, 2))
        other.start()
        other.join()
    write(store, 3)
    entries = [(entry.at, Actor(entry.actor_kind, entry.actor)) for entry in read(store)]
    assert entries == [
        (3, audit.SYSTEM),
        (2, audit.SYSTEM),
        (1, CLIENT),
    ]


def test_what_is_undone_was_not_done(store: SQLiteStore) -> None:
    with pytest.raises(RuntimeError), store.write() as tx:
        audit.write(tx, 1, "client", "c1", "rotated", "A new secret.")
        raise RuntimeError
    assert read(store) == []


def test_a_project_sees_its_own_and_the_workspace_if_it_may(store: SQLiteStore) -> None:
    write(store, 1, project="proj_a", environment="development")
    write(store, 2, project="proj_b", environment="development")
    write(store, 3, noun="client", subject_id="c1")
    assert [one.at for one in read(store, project_id="proj_a")] == [3, 1]
    assert [one.at for one in read(store, project_id="proj_a", workspace=False)] == [1]
    assert [one.at for one in read(store, noun="client")] == [3]
    assert [one.at for one in read(store, subject_id="apn_1")] == [2, 1]
