"""Who rings wakes those who listen in other processes, also after the connection was lost."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.store.postgres.test_connections import cut
from webapp.store.postgres import bell
from webapp.store.postgres.store import PostgresStore


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who listens looks up soon."""
    monkeypatch.setattr(bell, "_LOOK_S", 0.05)


@contextmanager
def hearing(store: PostgresStore) -> Iterator[threading.Semaphore]:
    """Counts what ``store`` hears, from when it listens."""
    heard = threading.Semaphore(0)
    with store.listening(heard.release):
        assert heard.acquire(timeout=5)
        yield heard


def test_a_ring_is_heard_in_another_process_and_not_in_ones_own(postgres: PostgresStore, url: str) -> None:
    with closing(PostgresStore(url, connections=2)) as other, hearing(other) as heard, hearing(postgres) as own:
        postgres.ring()
        assert heard.acquire(timeout=5)
        postgres.ring()
        assert heard.acquire(timeout=5)
        assert not own.acquire(timeout=0.05)
    assert {thread.name for thread in threading.enumerate()} & {"listener"} == set()


def test_many_rings_are_one(postgres: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bell, "PAUSE_S", 0.2)
    with closing(PostgresStore(url, connections=2)) as other, hearing(other) as heard:
        for _ in range(100):
            postgres.ring()
        assert heard.acquire(timeout=5)
        assert sum(heard.acquire(timeout=0.1) for _ in range(3)) <= 1


def test_it_listens_again_after_a_lost_connection(
    postgres: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bell, "AFTER_TROUBLE_S", 0.01)
    with closing(PostgresStore(url, connections=2)) as other, hearing(other) as heard:
        cut(url)
        assert heard.acquire(timeout=5), "something may have happened meanwhile"
        postgres.ring()
        assert heard.acquire(timeout=5)
