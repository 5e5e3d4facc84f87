"""What an account of a database says of its server."""

import pytest

from webapp.service.outbound.databases.accounts import DatabaseAccount, account_of

FIELDS = {"host": "db.test", "user": "ada", "password": "x", "database": "shop"}


@pytest.mark.parametrize(
    ("fields", "account"),
    [
        ({}, DatabaseAccount("db.test", "ada", "x", "shop", 3306)),
        ({"port": "5", "ssl_mode": "require"}, DatabaseAccount("db.test", "ada", "x", "shop", 5, "require")),
        ({"ssl_mode": "what"}, DatabaseAccount("db.test", "ada", "x", "shop", 3306)),
        ({"port": "0"}, None),
        ({"port": "x"}, None),
    ],
)
def test_fields(fields: dict[str, str], account: DatabaseAccount | None) -> None:
    assert account_of(FIELDS | fields, 3306) == account
