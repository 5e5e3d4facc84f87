"""The functions of PostgreSQL that make the months of a table, and remove them.

They run with the rights of who owns the tables, for whoever may delete rows: so whoever serves needs no right to make
or drop a table. A lock is taken at once or not at all, since readers would have to wait behind who waits for one.
"""

from typing import NamedTuple

from webapp.kit.crypto import ALPHABET


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
  name TEXT; key TEXT; prefix TEXT; child TEXT; bounds TEXT; condition TEXT; strays BOOLEAN;
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
BELONGING = {
    "events": (("deliveries", "event_id"), ("body_parts", "event_id")),
    "deliveries": (("delivery_attempts", "delivery_id"),),
}
"""What goes with a row that is deleted: the tables and their columns that name it."""


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
