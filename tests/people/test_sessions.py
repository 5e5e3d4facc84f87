"""Sessions slide, end, and are kept as hashes."""

import pytest

from webapp.kit.clock import DAY, MINUTE, SECOND, FakeClock
from webapp.people import sessions, users
from webapp.store.sqlite import SQLiteStore


@pytest.fixture
def alice(people_store: SQLiteStore, people_clock: FakeClock) -> str:
    user = users.create(people_store, people_clock, email="alice@example.com", password="a long password", role="owner")
    return user.id


def start(store: SQLiteStore, clock: FakeClock, user_id: str, agent: str = "Firefox") -> str:
    return sessions.start(store, clock, user_id=user_id, user_agent=agent, address="192.0.2.7")


def test_token_is_kept_as_its_hash_only(people_store: SQLiteStore, people_clock: FakeClock, alice: str) -> None:
    token = start(people_store, people_clock, alice)
    assert token not in str(people_store.all("SELECT * FROM sessions"))
    found = sessions.find(people_store, people_clock, token)
    assert found is not None
    assert (found.user_id, found.user_agent, found.address) == (alice, "Firefox", "192.0.2.7")
    assert sessions.find(people_store, people_clock, found.id) is None
    assert sessions.find(people_store, people_clock, "") is None


def test_each_browser_works_where_it_was_told_to(
    people_store: SQLiteStore, people_clock: FakeClock, alice: str
) -> None:
    tokens = [start(people_store, people_clock, alice) for _ in range(2)]
    first = sessions.find(people_store, people_clock, tokens[0])
    assert first is not None and (first.project_id, first.environment) == ("", "")
    sessions.work_in(people_store, first, "proj_1", "production")
    found = [sessions.find(people_store, people_clock, token) for token in tokens]
    assert [(each.project_id, each.environment) for each in found if each] == [("proj_1", "production"), ("", "")]


def test_session_slides_and_ends_14_days_after_its_last_use(
    people_store: SQLiteStore, people_clock: FakeClock, alice: str
) -> None:
    token = start(people_store, people_clock, alice)
    people_clock.advance(13 * DAY)
    assert sessions.find(people_store, people_clock, token) is not None
    people_clock.advance(14 * DAY)
    assert sessions.find(people_store, people_clock, token) is None
    assert sessions.of_user(people_store, people_clock, alice) == []


def test_session_ends_30_days_after_it_began_however_often_it_is_used(
    people_store: SQLiteStore, people_clock: FakeClock, alice: str
) -> None:
    token = start(people_store, people_clock, alice)
    for _ in range(29):
        people_clock.advance(DAY)
        assert sessions.find(people_store, people_clock, token) is not None
    with people_store.write() as tx:  # as it was kept before there was an end
        tx.run("UPDATE sessions SET expires_at = expires_at + :more", {"more": 14 * DAY})
    people_clock.advance(DAY)
    assert sessions.find(people_store, people_clock, token) is None


def test_being_seen_is_written_at_most_once_a_minute(
    people_store: SQLiteStore, people_clock: FakeClock, alice: str
) -> None:
    token = start(people_store, people_clock, alice)
    begun = people_clock()

    def seen_after(ms: int) -> int:
        people_clock.advance(ms)
        sessions.find(people_store, people_clock, token)
        (row,) = people_store.all("SELECT seen_at FROM sessions")
        return int(row["seen_at"])

    assert seen_after(MINUTE - 1) == begun
    assert seen_after(1) == begun + MINUTE
    assert seen_after(30 * SECOND) == begun + MINUTE


def test_list_end_one_end_others(people_store: SQLiteStore, people_clock: FakeClock, alice: str) -> None:
    bob = users.create(people_store, people_clock, email="bob@example.com", password="a long password", role="member")
    kept, other, third = (start(people_store, people_clock, alice, agent) for agent in ("a", "b", "c"))
    bobs = start(people_store, people_clock, bob.id)
    ids = {found.user_agent: found.id for found in sessions.of_user(people_store, people_clock, alice)}
    assert set(ids) == {"a", "b", "c"}
    assert not sessions.end(people_store, user_id=bob.id, session_id=ids["b"])
    assert sessions.end(people_store, user_id=alice, session_id=ids["b"])
    assert sessions.find(people_store, people_clock, other) is None
    with people_store.write() as tx:
        assert sessions.end_all(tx, alice, keep=ids["a"]) == 1
    assert sessions.find(people_store, people_clock, third) is None
    assert sessions.find(people_store, people_clock, kept) is not None
    assert sessions.find(people_store, people_clock, bobs) is not None


def test_dead_sessions_are_swept(people_store: SQLiteStore, people_clock: FakeClock, alice: str) -> None:
    start(people_store, people_clock, alice)
    people_clock.advance(15 * DAY)
    start(people_store, people_clock, alice)
    assert len(people_store.all("SELECT 1 FROM sessions")) == 1


def test_a_clock_that_is_set_back_revives_no_session(
    people_store: SQLiteStore, people_clock: FakeClock, alice: str
) -> None:
    token = start(people_store, people_clock, alice)
    people_clock.advance(14 * DAY)
    assert sessions.find(people_store, people_clock, token) is None
    people_clock.advance(-DAY)
    assert sessions.find(people_store, people_clock, token) is None
