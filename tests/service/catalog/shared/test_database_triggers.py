"""New rows of every database, against a real server of each kind."""

import pytest

from tests.service.catalog.shared.conftest import DatabaseHarness
from webapp.service.catalog.shared import database_triggers

pytestmark = pytest.mark.parametrize("database", ["mysql", "postgresql"], indirect=True, scope="session")


def add(database: DatabaseHarness, *titles: str) -> None:
    values = ", ".join(f"({number}, '{title}')" for number, title in enumerate(titles, _count(database) + 1))
    database.ask(f"insert into books (id, title) values {values}")


def _count(database: DatabaseHarness) -> int:
    return int(database.ask("select count(*) as n from books")[0]["n"])


def test_each_new_row_is_told_once(database: DatabaseHarness) -> None:
    add(database, *"abcdefg")
    trigger = database.trigger("new-row", table=database.books, column=database.quoted("id"))
    assert [event.id for event in trigger.deploy()] == ["3", "4", "5", "6", "7"]
    assert trigger.tick() == []
    add(database, *(f"title {number}" for number in range(database_triggers.PAGE + 1)))
    events = trigger.tick()
    assert [event.id for event in events] == [str(number) for number in range(8, 109)]
    assert (events[0].summary, events[0].event["title"]) == ("id 8", "title 0")
    assert trigger.tick() == []


def test_a_table_may_begin_empty(database: DatabaseHarness) -> None:
    trigger = database.trigger("new-row", table=database.books, column=database.quoted("title"))
    assert trigger.deploy() == []
    add(database, "Emma")
    assert [event.id for event in trigger.tick()] == ["Emma"]
