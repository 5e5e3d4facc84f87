"""What a statement in a prop of type ``sql`` may use: the tables and columns of the account's database, which are its
``context.dbInfo`` (contract "Configure").
"""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants
from webapp.service.domain.components.account_grants import AccountUnusable
from webapp.service.outbound.databases import ENGINES, DatabaseOutcome, Table, account_of

Prop = Mapping[str, Any]


def account_prop(service: Service, props: Sequence[Prop], prop: Prop) -> Prop | None:
    """The app prop that a ``sql`` prop works with: the one it names, by the prop's name or the app's, or the only one.

    None for a prop of another type, and where accounts of that app are no databases whose tables can be listed.
    """
    if prop["type"] != "sql":
        return None
    named = (prop.get("auth") or {}).get("app")
    app_props = [app_prop for app_prop in props if app_prop["type"] == "app"]
    chosen = next(
        (app_prop for app_prop in app_props if named in (app_prop["name"], app_prop["app"])),
        app_props[0] if len(app_props) == 1 else None,
    )
    app = service.catalog.app(chosen["app"]) if chosen else None
    return chosen if app is not None and app.test_kind in ENGINES else None


def tables(service: Service, account: Account) -> dict[str, Any]:
    """The tables of the account's database by name, each with its columns. Raises :class:`AccountUnusable`."""
    app = service.app(account.app)
    engine = ENGINES[app.test_kind or ""]()
    where = account_of(
        account_grants.given_values(service, account_grants.fresh(service, account)), engine.DEFAULT_PORT
    )
    if where is None:
        raise AccountUnusable("The port of this account is not a number from 1 to 65535. Reconnect it.")
    result = engine.tables(service.client_for(app).guard, where)
    if isinstance(result, DatabaseOutcome):
        raise AccountUnusable(result.sentence)
    return {table.title: _shown(table) for table in result}


def _shown(table: Table) -> dict[str, Any]:
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
