"""Add a row, or change the one with the same primary key."""

from webapp.service.catalog.shared import databases

from .. import common


class UpsertRow(databases.UpsertRow, common.PostgresqlTable):
    reads_secrets = True  # for the driver
    description = (
        "Add a row to a table, or change the one with the same primary key. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-insert.html)"
    )

    key_column = databases.column_prop.but(
        label="Find by", description="A column whose values are unique. Empty for the primary key.", optional=True
    )
