"""Run SQL of one's own."""

from webapp.service.catalog.shared import databases
from webapp.service.components.authoring import sql

from .. import common


class ExecuteQuery(databases.ExecuteQuery, common.PostgresqlAccount):
    reads_secrets = True  # for the driver
    description = (
        "Run an SQL statement and get its rows, at most 1,000. "
        "[See the documentation](https://www.postgresql.org/docs/current/sql-commands.html)"
    )

    sql_ = sql("postgresql", label="Query", description="Write parameters as $1, $2 and so on.")
