"""The options of a prop as the wire has them (contract "Options"): from a component, or from its declaration; and for a
``sql`` prop the tables and columns of a database that a statement may use (contract "Configure").
"""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.service.components.calls import Reply
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants
from webapp.service.domain.components.grants import AccountUnusable
from webapp.service.domain.components.prop_checks import option_value
from webapp.service.outbound.databases import ENGINES, DatabaseOutcome, Table, account_of

Prop = Mapping[str, Any]


def static(prop: Prop, query: str | None) -> dict[str, Any]:
    """The options that stand in the declaration, narrowed by ``query``."""
    part_of_label = (query or "").strip().casefold()
    options = [option for option in map(_option, prop["options"]) if part_of_label in option["label"].casefold()]
    return {"options": options, "stringOptions": None, "observations": [], "context": None, "errors": []}


def answer(prop: Prop, reply: Reply) -> dict[str, Any]:
    """What a component found."""
    if reply.error is not None:
        return failed(reply)
    answer = reply.value
    options, texts = answer.get("options"), answer.get("string_options")
    return {
        "options": None if options is None else [_option(option) for option in options],
        "stringOptions": texts,
        **problems(reply),
        "context": answer.get("context"),
    }


def failed(reply: Reply) -> dict[str, Any]:
    """No options, and why."""
    return {"options": None, "stringOptions": None, **problems(reply), "context": None}


def problems(reply: Reply) -> dict[str, Any]:
    """What went wrong, and what was logged."""
    return {
        "observations": [line.to_json() for line in reply.observations],
        "errors": [reply.error.message] if reply.error else [],
    }


def _option(option: Any) -> dict[str, Any]:
    """An option as an object with a label; a bare value is its own. Values are text, whole numbers or booleans."""
    value = option_value(option)
    inside = option.get("__lv", option) if isinstance(option, dict) else {}
    label = inside.get("label") if isinstance(inside, dict) else None
    if not isinstance(value, str | int):
        value = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return {"label": str(value if label is None else label), "value": value}


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


def is_database(service: Service, prop: Prop) -> bool:
    """Whether the accounts of that app prop are databases whose tables can be listed."""
    app = service.catalog.app(prop["app"])
    return app is not None and app.test_kind in ENGINES


def tables(service: Service, account: Account) -> dict[str, Any]:
    """The tables of the account's database by name, each with its columns. Raises :class:`AccountUnusable`."""
    app = service.app(account.app)
    engine = ENGINES[app.test_kind or ""]()
    where = account_of(grants.given_values(service, grants.fresh(service, account)), engine.DEFAULT_PORT)
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
