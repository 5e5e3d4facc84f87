"""Turns the tables of events, deliveries, attempts and large bodies into ones that are kept by months.

The migrations stay the portable ones: what stands when they were applied is taken over with its columns, indexes, keys
and grants, in the transaction that is open. The rows of before stay where they are, as one table behind all months. A
foreign key between these tables would look through all that is left whenever a month goes, so what belongs to a row
that is deleted goes by triggers instead.
"""

from typing import Protocol

from webapp.kit.clock import now
from webapp.store.contract import NOTHING, Params
from webapp.store.months import BEFORE, name_of, number_at
from webapp.store.postgres.month_functions import BELONGING, TABLES, ByMonth, functions

_INDEXES = (
    "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = '{0}'::regclass AND "
    "NOT indisprimary ORDER BY 1"
)
_CONSTRAINTS = (
    "SELECT conname, pg_get_constraintdef(oid), contype::text, confrelid::regclass::text FROM pg_constraint "
    "WHERE conrelid = '{0}'::regclass AND contype IN ('p', 'f') ORDER BY contype DESC, conname"
)
_GRANTS = (
    "SELECT DISTINCT privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END FROM pg_class, "
    "aclexplode(relacl) WHERE pg_class.oid = '{0}'::regclass ORDER BY 1, 2"
)


class Session(Protocol):
    """A connection whose user owns the tables."""

    def tuples(self, sql: str, params: Params = NOTHING) -> list[tuple[object, ...]]:
        """The rows that ``sql`` gives."""
        ...

    def command(self, sql: str) -> str | None:
        """Run ``sql``."""
        ...


def convert(session: Session) -> None:
    """Define the functions, and have the tables kept by months, where they are not yet."""
    ((schema,),) = session.tuples("SELECT quote_ident(current_schema())")
    for function in functions(str(schema)):
        session.command(function)
    if session.tuples("SELECT 1 FROM pg_class WHERE oid = 'events'::regclass AND relkind = 'p'"):
        return
    month = number_at(now())
    suffix = f"{BEFORE}{name_of(month + 1)}"
    for table in TABLES:
        _divide(session, table, suffix)
    if not session.tuples(f"SELECT 1 FROM events_{suffix} LIMIT 1"):  # noqa: S608
        for table in TABLES:
            session.command(f"DROP TABLE {table.name}_{suffix}")
    session.command(f"SELECT patchbay_make_months({month}, {month + 1})")
    for table in reversed(TABLES):
        if session.tuples(f"SELECT 1 WHERE to_regclass('{table.name}_{suffix}') IS NOT NULL"):
            _attach(session, table, suffix, month + 1)
    for name in BELONGING:
        session.command(
            f"CREATE TRIGGER gone AFTER DELETE ON {name} FOR EACH ROW EXECUTE FUNCTION patchbay_{name}_gone()"
        )


def _divide(session: Session, table: ByMonth, suffix: str) -> None:
    """Put a table that has partitions, and only its default one, in the place of ``table``, which gets a ``suffix``."""
    name, old, ours = table.name, f"{table.name}_{suffix}", {table.name for table in TABLES}
    indexes = session.tuples(_INDEXES.format(name))
    constraints = session.tuples(_CONSTRAINTS.format(name))
    grants = session.tuples(_GRANTS.format(name))
    session.command(f"ALTER TABLE {name} RENAME TO {old}")
    session.command(f"CREATE TABLE {name} (LIKE {old} INCLUDING DEFAULTS) PARTITION BY RANGE ({table.key})")
    for constraint, definition, kind, other in constraints:
        if kind == "p":
            session.command(f"ALTER INDEX {constraint} RENAME TO {old}_pkey")
        if kind == "f" and str(other).partition("_before_")[0] in ours:
            session.command(f"ALTER TABLE {old} DROP CONSTRAINT {constraint}")
        else:
            session.command(f"ALTER TABLE {name} ADD CONSTRAINT {constraint} {definition}")
    for number, (index, definition) in enumerate(indexes):
        session.command(f"ALTER INDEX {index} RENAME TO {old}_{number}")
        session.command(str(definition))
    for privilege, grantee in grants:
        session.command(f"GRANT {privilege} ON {name} TO {grantee}")
    session.command(f"CREATE TABLE {name}_default PARTITION OF {name} DEFAULT")


def _attach(session: Session, table: ByMonth, suffix: str, end: int) -> None:
    """Let the rows of before be the first partition, all but those that belong behind it."""
    name, old, key = table.name, f"{table.name}_{suffix}", table.key
    ((bound,),) = session.tuples(f"SELECT patchbay_id_at('{table.prefix}', {end})")
    session.command(
        f"WITH moved AS (DELETE FROM {old} WHERE {key} >= '{bound}' RETURNING *) "  # noqa: S608
        f"INSERT INTO {name} SELECT * FROM moved"
    )
    session.command(f"ALTER TABLE {name} ATTACH PARTITION {old} FOR VALUES FROM (MINVALUE) TO ('{bound}')")
