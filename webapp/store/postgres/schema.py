"""The migrations of :mod:`webapp.store.migrations` on PostgreSQL, all or nothing, and what stands beside them.

The database remembers them in ``migration_checksums``, together with the functions that our SQL uses, the tables that
are kept by months, and what the planner assumes about columns. Only the owner of the tables can apply one; the role
that serves only needs to read and write rows. Texts compare and sort by their bytes (the collation "C"), as SQLite's
do, whatever the language of the database.

**Folding.** ``holds(text, part)`` finds what :func:`webapp.kit.text.holds` finds. What a character becomes without case
and accents is written into the function from Python's own tables, because ``lower()`` depends on the language of the
database and does not know "ß".

**Statistics.** A prepared statement is planned only once if that plan promises to cost no more than plans for single
values. By what the server counts it never would where one project has nearly all rows: each page of a list would be
planned anew, which takes longer than to read it. So the columns by which lists are found say for how many rows they are
planned (:data:`DISTINCT`). That is enough for an index in the order of a list to cost less than to sort, and little
enough for the one with most of the requested columns to cost less than one with fewer. The server still counts what a
frequent value really has, and uses it where it plans for that value.
"""

import re
import unicodedata
from collections.abc import Iterator

from webapp.store.migrations import RECORD, SCHEMA
from webapp.store.postgres import months
from webapp.store.postgres.connections import Session

_FUNCTIONS = "functions_"
FUNCTIONS = f"{_FUNCTIONS}1"
"""Its number changes whenever :func:`folding_functions` does."""
MONTHS = f"{_FUNCTIONS}months_2"
"""The same of :func:`webapp.store.postgres.months.functions`. It comes after the migrations, which make the tables."""
STATISTICS = f"{_FUNCTIONS}statistics_2"
"""The same of :func:`_statistics_statements`. It comes last."""
_TYPES = {"INTEGER": "BIGINT", "BLOB": "BYTEA", "TEXT": 'TEXT COLLATE "C"'}
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b")
_COMMENT = re.compile(r"--[^\n]*")
ONE, SOME, MANY, FEW = -1.0, -0.02, -0.001, 5.0
"""Distinct values for each row: a value is one row's own, or is shared by fifty, or by a thousand. Or how many there
are: each then has so many rows that to sort them costs more than to read the first ones in order."""
DISTINCT = {
    "external_users": {"project_id": SOME},
    "accounts": {"project_id": SOME, "app": SOME, "oauth_app_id": SOME, "external_user_id": ONE},
    "deployed_triggers": {"project_id": SOME, "app": SOME, "emitter": SOME, "external_user_id": ONE},
    "runs": dict.fromkeys(("project_id", "external_id", "component_key", "component_id", "app", "ok"), SOME),
    "account_history": dict.fromkeys(
        ("project_id", "app", "kind", "external_user_id", "account_id", "trigger_id"), FEW
    ),
    "trigger_runs": dict.fromkeys(("project_id", "app", "external_user_id", "trigger_id"), FEW),
    "api_calls": dict.fromkeys(("project_id", "external_id"), FEW),
    "events": dict.fromkeys(("project_id", "app", "external_user_id", "trigger_id"), FEW),
    "deliveries": dict.fromkeys(("project_id", "app", "external_user_id", "trigger_id"), FEW),
    "agent_approvals": dict.fromkeys(("project_id", "app", "external_user_id"), FEW),
    "audit": {"project_id": MANY, "noun": SOME, "subject_id": ONE, "actor": ONE},
}
"""By table and column. Those that are one row's own lead the only index that finds their rows. Entries of the audit are
also looked for among the few of a project that belong to no environment, hence so many of a project."""
_FREQUENT = "\u0590"
"""Most texts beyond ASCII use the alphabets before this; the rest is only replaced in a text that has some of it."""
_FOLD = """
CREATE OR REPLACE FUNCTION patchbay_fold(plain TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  folded TEXT;
BEGIN
  IF octet_length(plain) = char_length(plain) THEN
    RETURN lower(plain COLLATE "C");
  END IF;
  folded := translate(normalize(plain, NFKD), {frequent_from}, {frequent_to});
  IF folded ~ {rare_pattern} THEN
    folded := translate(folded, {rare_from}, {rare_to});
  END IF;
  RETURN replace(replace(folded, 'ß', 'ss'), 'ẞ', 'ss');
END $$
"""
_HOLDS = """
CREATE OR REPLACE FUNCTION holds(whole TEXT, part TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT COALESCE(strpos(patchbay_fold(whole), patchbay_fold(part)) > 0, FALSE)
$$
"""


def pending(session: Session) -> list[str]:
    """What the database lacks, in order. Raises :class:`WrongSchema` where it was made with other migrations."""
    checksums = _checksums(session)
    SCHEMA.check_names([name for name in checksums if not name.startswith(_FUNCTIONS)], checksums)
    names = [FUNCTIONS, *SCHEMA.names, MONTHS, STATISTICS]
    return [name for name in names if name not in checksums]


def apply(session: Session) -> list[str]:
    """Apply what the database lacks, within the transaction that is open; the names. Raises :class:`WrongSchema`."""
    names = pending(session)
    for name in names:
        if name == MONTHS:
            months.convert(session)
        elif name == STATISTICS:
            set_statistics(session)
        else:
            for statement in folding_functions() if name == FUNCTIONS else definitions(SCHEMA.migration(name).sql):
                session.command(statement)
    for name in names:
        sha256 = "" if name in (FUNCTIONS, MONTHS, STATISTICS) else SCHEMA.migration(name).checksum
        session.run(RECORD, {"name": name, "sha256": sha256})
    return names


def _checksums(session: Session) -> dict[str, str]:
    ((exists,),) = session.tuples("SELECT to_regclass('migration_checksums') IS NOT NULL")
    if not exists:
        return {}
    return dict(session.tuples("SELECT name, sha256 FROM migration_checksums"))


def definitions(sql: str) -> list[str]:
    """The statements of a migration, with the types of their columns."""
    text = _COMMENT.sub("", sql)
    return [_TYPE.sub(lambda match: _TYPES[match[1]], part) for part in text.split(";\n") if part.strip(" \n;")]


def set_statistics(session: Session) -> None:
    """Set the statistics of each table, and analyze those that hold rows, since ANALYZE is what reads them."""
    for sql in list(_statistics_statements(session)):
        session.command(sql)
    for table in DISTINCT:
        if session.tuples(f"SELECT 1 FROM {table} LIMIT 1"):  # noqa: S608
            session.command(f"ANALYZE {table}")


def _statistics_statements(session: Session) -> Iterator[str]:
    """The statements that set :data:`DISTINCT`, also of the months that there are; new ones take it over."""
    partitions = (
        "SELECT inhrelid::regclass::text FROM pg_inherits "
        "WHERE inhparent IN (SELECT oid FROM pg_class WHERE oid = to_regclass(:name) AND relkind = 'p')"
    )
    for table, columns in DISTINCT.items():
        changes = ", ".join(f"ALTER {column} SET (n_distinct = {share:g})" for column, share in columns.items())
        for name in (table, *(name for (name,) in session.tuples(partitions, {"name": table}))):
            yield f"ALTER TABLE {name} {changes}"


def folding_functions() -> list[str]:
    """The statements that define ``patchbay_fold`` and ``holds``."""
    characters = list(_changed())
    frequent = [(char, into) for char, into in characters if char < _FREQUENT]
    rare = [(char, into) for char, into in characters if char >= _FREQUENT]
    fold = _FOLD.format(
        frequent_from=_from(frequent),
        frequent_to=_to(frequent),
        rare_from=_from(rare),
        rare_to=_to(rare),
        rare_pattern=f"'[{_ranges([ord(char) for char, _ in rare])}]'",
    )
    return [fold, _HOLDS]


def _changed() -> Iterator[tuple[str, str]]:
    """Each character that stands in decomposed texts and changes, with what it becomes: one character, or none."""
    for number in (*range(0xD800), *range(0xE000, 0x110000)):
        char = chr(number)
        if unicodedata.normalize("NFKD", char) == char:
            into = "" if unicodedata.combining(char) else char.casefold()
            if into != char and len(into) < 2:
                yield char, into


def _from(characters: list[tuple[str, str]]) -> str:
    """Those that become another first: ``translate`` drops what has no counterpart."""
    return f"'{''.join(char for char, into in sorted(characters, key=_is_dropped))}'"


def _to(characters: list[tuple[str, str]]) -> str:
    return f"'{''.join(into for _, into in sorted(characters, key=_is_dropped))}'"


def _is_dropped(character: tuple[str, str]) -> bool:
    return not character[1]


def _ranges(numbers: list[int]) -> str:
    """``numbers`` as what stands inside of the brackets of a regular expression."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
