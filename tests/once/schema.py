"""What the migrations make of an empty embedded database, worked out once for all databases of a test run."""

from functools import cache

from sqlite_utils import Database

from webapp.store.migrations import SCHEMA, Schema

_apply = Schema.apply


def keep() -> None:
    """Give an empty database its tables at once: dozens of migrations would change them one after another."""
    setattr(Schema, "apply", _apply_once)  # noqa: B010  # for every store


def _apply_once(schema: Schema, db: Database) -> list[str]:
    if schema is not SCHEMA or db.table_names():
        return _apply(schema, db)
    for statement in _statements():
        db.execute(statement)
    return schema.names


@cache
def _statements() -> tuple[str, ...]:
    """The SQL of a database that all migrations were applied to, and the rows in which they are recorded."""
    with Database(memory=True) as model:
        _apply(SCHEMA, model)
        return tuple(line for line in model.conn.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;"))
