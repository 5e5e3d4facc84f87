"""Delete the rows that are found by the value of one column."""

from webapp.service.catalog.shared import databases

from .. import common


class DeleteRows(databases.DeleteRows, common.PostgresqlTable):
    reads_secrets = True  # for the driver
    description = (
        "Delete the rows of a table whose column has a value. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-delete.html)"
    )
