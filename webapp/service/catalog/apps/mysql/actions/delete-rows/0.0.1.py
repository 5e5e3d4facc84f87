"""Delete the rows that are found by the value of one column."""

from webapp.service.catalog.shared import databases

from .. import common


class DeleteRows(databases.DeleteRows, common.MysqlAccount):
    reads_secrets = True  # for the driver
    description = (
        "Delete the rows of a table whose column has a value. "
        "[See the documentation](https://dev.mysql.com/doc/refman/8.4/en/delete.html)"
    )
