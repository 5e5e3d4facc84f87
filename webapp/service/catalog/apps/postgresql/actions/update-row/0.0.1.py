"""Change columns of the rows that are found by one of them."""

from webapp.service.catalog.shared import databases

from .. import common


class UpdateRows(databases.UpdateRows, common.PostgresqlTable):
    reads_secrets = True  # for the driver
    description = (
        "Change the rows of a table whose column has a value; what is left empty stays as it is. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-update.html)"
    )
