"""Look for rows that were added since the last time."""

from webapp.service.catalog.shared import databases

from .. import common


class NewRow(databases.NewRow, common.PostgresqlTable):
    reads_secrets = True  # for the driver
    description = (
        "Emits each row that is added to a table. "
        "[See the documentation](https://www.postgresql.org/docs/current/queries-order.html)"
    )
