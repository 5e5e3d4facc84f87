"""The months of PostgreSQL: partitions of the tables of events, deliveries, attempts and large bodies (:data:`TABLES`).

The migrations stay the portable ones. :func:`convert` takes over the tables that they made, with their columns,
indexes, keys and grants, in the transaction that is open. The rows of before stay where they are, as one table behind
all months. A foreign key between these tables would look through all that is left whenever a month is dropped, so
triggers delete what belongs to a deleted row.

Functions of PostgreSQL make and drop the months. They run with the rights of the owner of the tables, for whoever may
delete rows: so the role that serves needs no right to make or drop a table. They take a lock at once or not at all,
since readers would have to wait behind one that waits.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from webapp.errors import Unavailable
from webapp.kit.clock import now
from webapp.kit.crypto import ALPHABET
from webapp.store.contract import Store, Tx
from webapp.store.months import BEFORE, Month, MonthCount, name_of, number_at, start_of
from webapp.store.postgres.connections import Session

log = logging.getLogger(__name__)
COUNTERS = "counters"
_NAME = re.compile(rf"events_((?:{BEFORE})?\d{{4}}_\d\d)")
_TABLES = (
    "SELECT relname::text, relispartition FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
    "AND relkind = 'r' AND relname ~ '^events_' ORDER BY relname"
)
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


class ByMonth(NamedTuple):
    """A table that is kept by months, the column that tells a row's month, and what the ids there begin with."""

    name: str
    key: str
    prefix: str


TABLES = (
    ByMonth("delivery_attempts", "delivery_id", "dlv"),
    ByMonth("body_parts", "id", "evt"),
    ByMonth("deliveries", "id", "dlv"),
    ByMonth("events", "id", "evt"),
)
"""Each before those that its rows belong to."""
BELONGING = {
    "events": (("deliveries", "event_id"), ("body_parts", "event_id")),
    "deliveries": (("delivery_attempts", "delivery_id"),),
}
"""What goes with a row that is deleted: the tables and their columns that name it."""


class PostgresMonths:
    """A :class:`webapp.store.months.Months`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def existing(self) -> Sequence[Month]:
        """Those that have tables, the oldest first."""
        tables = [(_NAME.fullmatch(str(name)), attached) for name, attached in self._store.tuples(_TABLES)]
        named = [Month(match[1], bool(attached)) for match, attached in tables if match]
        return sorted(named, key=lambda month: month.end)

    def missing(self, now: int) -> Sequence[str]:
        """Of the month of ``now`` and the next, the names of those that are not there."""
        there, number = self.existing(), number_at(now)
        past = [month.end for month in there if month.holds_earlier]
        names = {month.name for month in there}
        wanted = (name_of(each) for each in (number, number + 1))
        return [name for name in wanted if name not in names and Month(name).end > max(past, default=0)]

    def ensure(self, now: int) -> None:
        """Make the month of ``now`` and the next where they are missing and no reader keeps the tables locked."""
        if missing := self.missing(now):
            try:
                self.make(now, start_of(number_at(now) + 1))
            except Unavailable as error:
                log.warning("the tables of %s cannot be made yet: %s", " and ".join(missing), error.message)

    def make(self, first: int, last: int) -> None:
        """Make those from the time ``first`` to ``last`` that are missing."""
        with self._store.write() as tx:
            numbers = {"first": number_at(first), "last": number_at(last)}
            tx.tuples("SELECT patchbay_make_months(CAST(:first AS INTEGER), CAST(:last AS INTEGER))", numbers)

    def strays(self) -> int:
        """How many events are in no month."""
        ((count,),) = self._store.tuples("SELECT COUNT(*) FROM events_default")
        return int(count)

    def detach(self, tx: Tx, month: Month) -> None:
        """Hide ``month`` from every statement."""
        tx.tuples("SELECT patchbay_detach_month(:name)", {"name": month.name})

    def counts(self, month: Month) -> Sequence[MonthCount]:
        """What there is in a ``month``, once it is detached."""
        rows = self._store.tuples("SELECT * FROM patchbay_month_counts(:name)", {"name": month.name})
        return [MonthCount(*row) for row in rows]

    def drop(self, tx: Tx, month: Month, counted: Mapping[str, int]) -> None:
        """Remove a ``month`` that is detached, and take from the counters what was ``counted`` of it."""
        tx.run(
            f"UPDATE {COUNTERS} AS c SET n = c.n - CAST(less.value AS BIGINT) "  # noqa: S608
            "FROM json_each_text(CAST(:counted AS JSON)) AS less WHERE c.name = less.key",
            {"counted": json.dumps(dict(counted))},
        )
        tx.tuples("SELECT patchbay_drop_month(:name)", {"name": month.name})


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


def functions(schema: str) -> list[str]:
    """The statements that define them, for the tables of ``schema``."""
    names = ", ".join(table.name for table in TABLES)
    rows = ", ".join(f"('{table.name}', '{table.key}', '{table.prefix}')" for table in TABLES)
    templates = (_ID_AT, _MONTH_NAME, _TABLE_OF, _MAY, _LOCK, _MAKE, _DETACH, _COUNTS, _DROP)
    texts = [text.format(alphabet=ALPHABET, schema=schema, names=names, rows=rows) for text in templates]
    for table, others in BELONGING.items():
        deletes = " ".join(f"DELETE FROM {name} WHERE {column} = OLD.id;" for name, column in others)  # noqa: S608
        texts.append(_GONE.format(table=table, deletes=deletes))
    return texts


_ID_AT = """
CREATE OR REPLACE FUNCTION patchbay_id_at(prefix TEXT, month INTEGER) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  left_over BIGINT := extract(epoch FROM make_timestamp(month / 12, month % 12 + 1, 1, 0, 0, 0))::BIGINT * 1000000000;
  digits TEXT := '';
BEGIN
  WHILE left_over > 0 LOOP
    digits := substr('{alphabet}', (left_over % 62)::INTEGER + 1, 1) || digits;
    left_over := left_over / 62;
  END LOOP;
  RETURN prefix || '_' || lpad(digits, 12, '0');
END $$
"""
_MONTH_NAME = """
CREATE OR REPLACE FUNCTION patchbay_month_name(month INTEGER) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
  SELECT to_char(month / 12, 'FM0000') || '_' || to_char(month % 12 + 1, 'FM00')
$$
"""
_TABLE_OF = """
CREATE OR REPLACE FUNCTION patchbay_month_table(name TEXT, month TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF month !~ '^(before_)?\\d{{4}}_\\d\\d$' THEN
    RAISE 'not a month: %', month USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN name || '_' || month;
END $$
"""
_MAY = """
CREATE OR REPLACE FUNCTION patchbay_may_forget() RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  IF NOT has_table_privilege(session_user, '{schema}.events', 'DELETE') THEN
    RAISE 'whoever may not delete events may not forget months' USING ERRCODE = 'insufficient_privilege';
  END IF;
END $$
"""
_LOCK = """
CREATE OR REPLACE FUNCTION patchbay_lock(tables TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
BEGIN
  FOR attempt IN 1..50 LOOP
    BEGIN
      EXECUTE 'LOCK TABLE ' || tables || ' IN ACCESS EXCLUSIVE MODE NOWAIT';
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.01);
    END;
  END LOOP;
  RAISE 'others read %', tables USING ERRCODE = 'lock_not_available';
END $$
"""
_MAKE = """
CREATE OR REPLACE FUNCTION patchbay_make_months(first INTEGER, last INTEGER) RETURNS VOID
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE
  name TEXT; key TEXT; prefix TEXT; child TEXT; bounds TEXT; condition TEXT; strays BOOLEAN; assumed TEXT;
BEGIN
  PERFORM patchbay_may_forget();
  PERFORM patchbay_lock('{names}');
  FOR month IN first..last LOOP
    FOR name, key, prefix IN VALUES {rows} LOOP
      child := patchbay_month_table(name, patchbay_month_name(month));
      CONTINUE WHEN EXISTS (SELECT FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND (relname = child
        OR relname ~ ('^' || name || '_before_\\d{{4}}_\\d\\d$')
        AND relname > name || '_before_' || patchbay_month_name(month)));
      bounds := format('FROM (%L) TO (%L)', patchbay_id_at(prefix, month), patchbay_id_at(prefix, month + 1));
      condition := format('%1$I >= %2$L AND %1$I < %3$L', key, patchbay_id_at(prefix, month),
        patchbay_id_at(prefix, month + 1));
      EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE %s)', name || '_default', condition) INTO strays;
      IF strays THEN
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', name, name || '_default');
      END IF;
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES %s', child, name, bounds);
      FOR assumed IN SELECT format('ALTER TABLE %I ALTER %I SET (%s)', child, attname,
        array_to_string(attoptions, ', ')) FROM pg_attribute
        WHERE attrelid = to_regclass(name) AND attoptions IS NOT NULL LOOP
        EXECUTE assumed;
      END LOOP;
      IF strays THEN
        EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %s RETURNING *) INSERT INTO %I SELECT * FROM moved',
          name || '_default', condition, child);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I DEFAULT', name, name || '_default');
      END IF;
    END LOOP;
  END LOOP;
END $$
"""
_DETACH = """
CREATE OR REPLACE FUNCTION patchbay_detach_month(month TEXT) RETURNS VOID
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE
  name TEXT; child TEXT;
BEGIN
  PERFORM patchbay_may_forget();
  PERFORM patchbay_lock('{names}');
  FOREACH name IN ARRAY string_to_array('{names}', ', ') LOOP
    child := patchbay_month_table(name, month);
    IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(child)) THEN
      EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', name, child);
    END IF;
  END LOOP;
END $$
"""
_COUNTS = """
CREATE OR REPLACE FUNCTION patchbay_month_counts(month TEXT) RETURNS TABLE (trigger_id TEXT, status TEXT, n BIGINT)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
BEGIN
  PERFORM patchbay_may_forget();
  RETURN QUERY EXECUTE format(
    'SELECT trigger_id, status, COUNT(*) FROM %I WHERE trigger_id IS NOT NULL GROUP BY 1, 2 UNION ALL '
    'SELECT trigger_id, ''kept'', SUM(kept)::BIGINT FROM %I WHERE trigger_id IS NOT NULL GROUP BY 1 UNION ALL '
    'SELECT NULL, ''events'', COUNT(*) FROM %2$I',
    patchbay_month_table('deliveries', month), patchbay_month_table('events', month));
END $$
"""
_DROP = """
CREATE OR REPLACE FUNCTION patchbay_drop_month(month TEXT) RETURNS VOID
LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp AS $$
DECLARE
  name TEXT; child TEXT; others TEXT;
BEGIN
  PERFORM patchbay_may_forget();
  FOREACH name IN ARRAY string_to_array('{names}', ', ') LOOP
    child := patchbay_month_table(name, month);
    CONTINUE WHEN to_regclass(child) IS NULL;
    SELECT string_agg(DISTINCT confrelid::regclass::TEXT, ', ') INTO others
      FROM pg_constraint WHERE contype = 'f' AND conrelid = to_regclass(child);
    PERFORM patchbay_lock(concat_ws(', ', child, others));
    EXECUTE format('DROP TABLE %I', child);
  END LOOP;
END $$
"""
_GONE = """
CREATE OR REPLACE FUNCTION patchbay_{table}_gone() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  {deletes}
  RETURN NULL;
END $$
"""
