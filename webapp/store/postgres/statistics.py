"""How many rows a value of a column has, as PostgreSQL's planner is to think where it plans for any value.

A prepared statement is planned once only if that plan promises to cost no more than plans for single values do. By what
the server counts it never would where one project has nearly all rows: each page of a list would be planned anew, which
takes longer than to read it. So the columns by which lists are found say here for how many rows they are planned. That
is enough for an index in the order of a list to cost less than to sort, and little enough for the one with most of the
columns that are asked for to cost less than one with fewer. What a value that is frequent really has, the server still
counts, and takes it where it plans for that value.
"""

from collections.abc import Iterator

from webapp.store.postgres.month_tables import Session

ONE, SOME, MANY = -1.0, -0.02, -0.001
"""Distinct values for each row: a value is one row's own, or is shared by fifty, or by a thousand."""

DISTINCT = {
    "external_users": {"project_id": SOME},
    "accounts": {"project_id": SOME, "app": SOME, "oauth_app_id": SOME, "external_user_id": ONE},
    "deployed_triggers": {"project_id": SOME, "app": SOME, "emitter": SOME, "external_user_id": ONE},
    "runs": dict.fromkeys(("project_id", "external_id", "component_key", "component_id", "app", "ok"), SOME),
    "account_history": {
        **dict.fromkeys(("project_id", "app", "kind"), SOME),
        **dict.fromkeys(("external_user_id", "account_id", "trigger_id"), ONE),
    },
    "audit": {"project_id": MANY, "noun": SOME, "subject_id": ONE, "actor": ONE},
}
"""By table and column. Those that are one row's own lead the only index that finds their rows. Entries of the audit are
also looked for among the few of a project that belong to no environment, hence so many of a project."""


def state(session: Session) -> None:
    """Say it of each table, and have those that hold rows counted again, since it is read with what is counted."""
    for sql in statements():
        session.command(sql)
    for table in DISTINCT:
        if session.tuples(f"SELECT 1 FROM {table} LIMIT 1"):  # noqa: S608
            session.command(f"ANALYZE {table}")


def statements() -> Iterator[str]:
    """What says it."""
    for table, columns in DISTINCT.items():
        changes = ", ".join(f"ALTER {column} SET (n_distinct = {share:g})" for column, share in columns.items())
        yield f"ALTER TABLE {table} {changes}"
