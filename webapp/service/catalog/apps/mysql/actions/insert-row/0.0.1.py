"""Add a row to a table, whose columns become the fields of the form."""

from webapp.service.catalog.shared import databases

from .. import common


class InsertRow(databases.InsertRow, common.MysqlAccount):
    reads_secrets = True  # for the driver
    description = (
        "Add a row to a table; what is left empty gets the column's default. "
        "[See the documentation](https://dev.mysql.com/doc/refman/8.4/en/insert.html)"
    )
