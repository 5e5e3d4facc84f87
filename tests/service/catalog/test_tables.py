"""Rows of a catalog that is being built."""

import sqlite3

import pytest
from sqlite_utils import Database

from webapp.service.catalog.tables import insert, packed


def test_rows_are_inserted_or_take_the_place_of_others() -> None:
    database = Database(memory=True)
    database.table("keys").create({"other": str, "key": str}, pk="other")
    insert(database, "keys", [])
    insert(database, "keys", ({"other": each, "key": packed([each])} for each in "ab"))
    insert(database, "keys", [{"other": "a", "key": "new"}], replace=True)
    assert {row["other"]: row["key"] for row in database["keys"].rows} == {"a": "new", "b": '["b"]'}
    with pytest.raises(sqlite3.IntegrityError):
        insert(database, "keys", [{"other": "a", "key": ""}])
