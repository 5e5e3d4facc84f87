"""The tables of the catalog: all are made, slugs are unique, and what is searched has a column."""

import sqlite3

import pytest
from sqlite_utils import Database

from webapp.service.catalog.schema import SEARCHED, create


def test_every_table_is_made_once() -> None:
    database = Database(memory=True)
    create(database)
    assert set(database.table_names()) == {"apps", "categories", "components", "words", "build"}
    assert set(SEARCHED) < {column.name for column in database.table("words").columns}
    database.table("apps").insert({"id": 1, "slug": "acme"})
    with pytest.raises(sqlite3.IntegrityError):
        database.table("apps").insert({"id": 2, "slug": "acme"})
