"""Look for rows that were added since the last time."""

from webapp.service.catalog.shared import database_triggers

from .. import common


class NewRow(database_triggers.NewRow, common.PostgresqlAccount):
    reads_secrets = True  # for the driver
    description = (
        "Emits each row that is added to a table. "
        "[See the documentation](https://www.postgresql.org/docs/current/queries-order.html)"
    )
