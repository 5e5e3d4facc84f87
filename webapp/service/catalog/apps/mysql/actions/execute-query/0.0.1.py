"""Run SQL of one's own."""

from webapp.service.catalog.shared import databases
from webapp.service.components.authoring import sql

from .. import common


class ExecuteQuery(databases.ExecuteQuery, common.MysqlAccount):
    reads_secrets = True  # for the driver
    description = (
        "Run an SQL statement and get its rows, at most 1,000. "
        "[See the documentation](https://dev.mysql.com/doc/refman/8.4/en/sql-statements.html)"
    )

    sql_ = sql("mysql", label="Query", description="Write parameters as question marks.")
