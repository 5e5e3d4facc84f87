"""Find rows of a table by the value of one column."""

from webapp.service.catalog.shared import databases

from .. import common


class FindRows(databases.FindRows, common.PostgresqlTable):
    reads_secrets = True  # for the driver
    description = (
        "Find the rows of a table whose column has a value. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-select.html)"
    )
