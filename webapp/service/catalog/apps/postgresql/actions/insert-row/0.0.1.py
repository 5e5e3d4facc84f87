"""Add a row to a table, whose columns become the fields of the form."""

from webapp.service.catalog.shared import databases

from .. import common


class InsertRow(databases.InsertRow, common.PostgresqlTable):
    reads_secrets = True  # for the driver
    description = (
        "Add a row to a table; what is left empty gets the column's default. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-insert.html)"
    )
