"""Add a row, or change the one with the same primary key."""

from webapp.service.catalog.shared import databases

from .. import common


class UpsertRow(databases.UpsertRow, common.MysqlAccount):
    reads_secrets = True  # for the driver
    description = (
        "Add a row to a table, or change the one with the same primary key. "
        "[See the documentation](https://dev.mysql.com/doc/refman/8.4/en/insert-on-duplicate.html)"
    )
