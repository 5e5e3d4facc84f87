"""What a ``sql`` prop asks of a database: the tables and columns that a statement may use (contract "Configure")."""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.domain.accounts import provider
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants
from webapp.service.domain.components.grants import AccountUnusable
from webapp.service.outbound import postgres, postgres_tables

Prop = Mapping[str, Any]


def account_prop(props: Sequence[Prop], prop: Prop) -> Prop | None:
    """The app prop whose account a ``sql`` prop works with: the one it names, by the prop's name or the app's."""
    if prop["type"] != "sql":
        return None
    named = (prop.get("auth") or {}).get("app")
    app_props = [app_prop for app_prop in props if app_prop["type"] == "app"]
    return next(
        (app_prop for app_prop in app_props if named in (app_prop["name"], app_prop["app"])),
        app_props[0] if len(app_props) == 1 else None,
    )


def is_postgres(service: Service, prop: Prop) -> bool:
    """Whether the accounts of that app prop are PostgreSQL databases."""
    app = service.catalog.app(prop["app"])
    return app is not None and app.test_kind == "postgres"


def tables(service: Service, account: Account) -> dict[str, Any]:
    """The tables of the account's database by name, each with its columns. Raises :class:`AccountUnusable`."""
    app = service.app(account.app)
    where = provider.postgres_account(grants.given_values(service, grants.fresh(service, account)))
    if where is None:
        raise AccountUnusable("The port of this account is not a number from 1 to 65535. Reconnect it.")
    result = postgres_tables.tables(service.client_for(app).guard, where)
    if isinstance(result, postgres.PostgresOutcome):
        raise AccountUnusable(result.sentence)
    return {table.title: _shown(table) for table in result}


def _shown(table: postgres_tables.Table) -> dict[str, Any]:
    columns = {
        column.name: {
            "columnDefault": column.default,
            "dataType": column.kind,
            "isNullable": column.nullable,
            "tableSchema": table.schema,
        }
        for column in table.columns
    }
    return {"metadata": {"rowCount": table.rows}, "schema": columns}
