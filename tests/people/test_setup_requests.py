"""Who would like an app to be set up."""

import pytest

from webapp.kit.clock import FakeClock
from webapp.people import setup_requests, users
from webapp.store.sqlite import SQLiteStore

PASSWORD = "three plain words here"


@pytest.fixture
def people(store: SQLiteStore, clock: FakeClock) -> dict[str, users.User]:
    """An owner and two members by their names."""
    roles = {"olga": "owner", "marc": "member", "tom": "member"}
    return {
        name: users.create(store, clock, email=f"{name}@example.com", password=PASSWORD, role=role)
        for name, role in roles.items()
    }


def test_each_person_asks_once_in_each_project(
    store: SQLiteStore, clock: FakeClock, people: dict[str, users.User]
) -> None:
    for project, app, name in (("p", "gmail", "tom"), ("p", "gmail", "marc"), ("p", "gmail", "tom"),
                               ("p", "slack", "marc"), ("q", "gmail", "marc")):  # fmt: skip
        clock.advance(1)
        setup_requests.add(store, clock, project, app, people[name].id)
    emails = [email for _user_id, email in setup_requests.of_app(store, "p", "gmail")]
    assert emails == ["tom@example.com", "marc@example.com"]
    assert setup_requests.counts(store, "p") == {"gmail": 2, "slack": 1}
    setup_requests.clear(store, "p", ["gmail", "github"])
    assert setup_requests.counts(store, "p") == {"slack": 1}
    assert setup_requests.counts(store, "q") == {"gmail": 1}


def test_who_is_gone_or_locked_out_does_not_count(
    store: SQLiteStore, clock: FakeClock, people: dict[str, users.User]
) -> None:
    for name in ("marc", "tom"):
        setup_requests.add(store, clock, "p", "gmail", people[name].id)
    with store.write() as tx:
        users.remove(tx, clock(), people["marc"])
        users.set_enabled(tx, clock(), people["tom"], False)
    assert setup_requests.counts(store, "p") == {}
    assert setup_requests.of_app(store, "p", "gmail") == []
    rows = store.all("SELECT user_id FROM setup_requests")
    assert [row["user_id"] for row in rows] == [people["tom"].id]
