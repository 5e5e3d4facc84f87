"""One constructor for each prop type of the contract, such as ``string(label="Title")``.

Each returns a :class:`~webapp.service.components.props.Prop`, which has the fields that all types share.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from webapp.service.components.options import FindOptions
from webapp.service.components.props import Common, Number, Prop, Text, WithOptions

AlertType = Literal["info", "neutral", "warning", "error"]


def app(slug: str, **fields: Unpack[Common]) -> Prop:
    """A connected account of the app ``slug``."""
    return Prop("app", own={"app": slug}, **fields)


def alert(content: str, kind: AlertType = "info", **fields: Unpack[Common]) -> Prop:
    """A note in the form; it has no value."""
    return Prop("alert", own={"content": content, "alertType": kind}, **fields)


def string(*, default: str | None = None, **fields: Unpack[Text]) -> Prop:
    """A piece of text."""
    return Prop("string", default=default, **fields)


def string_list(*, default: Sequence[str] | None = None, **fields: Unpack[Text]) -> Prop:
    """Several pieces of text."""
    return Prop("string[]", default=_listed(default), **fields)


def integer(*, default: int | None = None, **fields: Unpack[Number]) -> Prop:
    """A whole number."""
    return Prop("integer", default=default, **fields)


def integer_list(*, default: Sequence[int] | None = None, **fields: Unpack[Number]) -> Prop:
    """Several whole numbers."""
    return Prop("integer[]", default=_listed(default), **fields)


def boolean(*, default: bool | None = None, **fields: Unpack[WithOptions]) -> Prop:
    """Yes or no."""
    return Prop("boolean", default=default, **fields)


def object_(*, default: Mapping[str, Any] | None = None, **fields: Unpack[WithOptions]) -> Prop:
    """A JSON object."""
    return Prop("object", default=default, **fields)


def any_(*, default: Any = None, **fields: Unpack[WithOptions]) -> Prop:
    """Any JSON value."""
    return Prop("any", default=default, **fields)


def sql(
    slug: str, *, tables: FindOptions | None = None, default: Mapping[str, Any] | None = None, **fields: Unpack[Common]
) -> Prop:
    """A query for the database of an account of the app ``slug``, with its parameters.

    ``tables`` finds the tables: it returns ``Options([], context={"dbInfo": ...})``.
    """
    start = default or {"value": "", "query": "", "params": [], "usePreparedStatements": True}
    return Prop("sql", default=start, options=tables, own={"auth": {"app": slug}}, **fields)


def http_request(*, default: Mapping[str, Any] | None = None, **fields: Unpack[Common]) -> Prop:
    """An HTTP request that a user composes."""
    return Prop("http_request", default=default, **fields)


def data_store(**fields: Unpack[Common]) -> Prop:
    """A data store of the project."""
    return Prop("data_store", **fields)


def dir_(
    access: Literal["read", "write", "read-write"] | None = None, *, sync: bool | None = None, **fields: Unpack[Common]
) -> Prop:
    """A folder for files. Infrastructure: no form asks for it."""
    return Prop("dir", own=_given(accessMode=access, sync=sync), **fields)


def http_interface(*, custom_response: bool = False, at_client: bool = False, **fields: Unpack[Common]) -> Prop:
    """An address that receives HTTP requests; ``at_client`` for that of the account's OAuth client, or the topic that
    stands for it. Infrastructure."""
    own = _given(customResponse=custom_response or None, at="client" if at_client else None)
    return Prop("$.interface.http", own=own, **fields)


def timer(
    *,
    default: Mapping[str, Any] | None = None,
    static: Mapping[str, Any] | None = None,
    choices: Sequence[Mapping[str, Any]] | None = None,
    **fields: Unpack[Common],
) -> Prop:
    """A schedule: ``{"intervalSeconds": 900}`` or ``{"cron": "0 * * * *", "timezone": "Europe/Berlin"}``."""
    return Prop("$.interface.timer", default=default, own=_given(static=static, options=_listed(choices)), **fields)


def apphook(
    app_prop: str,
    events: Sequence[str] = (),
    *,
    polls: bool | None = None,
    remote: bool | None = None,
    static: Sequence[Any] | None = None,
    **fields: Unpack[Common],
) -> Prop:
    """Events that the app of ``app_prop`` sends by itself; with ``polls``, they only let a trigger with a timer run at
    once. Infrastructure."""
    own = _given(appProp=app_prop, eventNames=list(events), polls=polls, remote=remote, static=_listed(static))
    return Prop("$.interface.apphook", own=own, **fields)


def service_db(**fields: Unpack[Common]) -> Prop:
    """The memory of a trigger, ``ctx.db``. Infrastructure."""
    return Prop("$.service.db", **fields)


def airtable_base(app_prop: str, **fields: Unpack[WithOptions]) -> Prop:
    """A base of the Airtable account in ``app_prop``."""
    return Prop("$.airtable.baseId", own={"appProp": app_prop}, **fields)


def airtable_table(base_prop: str, **fields: Unpack[WithOptions]) -> Prop:
    """A table of the base in ``base_prop``."""
    return Prop("$.airtable.tableId", own={"baseIdProp": base_prop}, **fields)


def airtable_view(table_prop: str, **fields: Unpack[WithOptions]) -> Prop:
    """A view of the table in ``table_prop``."""
    return Prop("$.airtable.viewId", own={"tableIdProp": table_prop}, **fields)


def airtable_field(table_prop: str, **fields: Unpack[WithOptions]) -> Prop:
    """A field of the table in ``table_prop``."""
    return Prop("$.airtable.fieldId", own={"tableIdProp": table_prop}, **fields)


def discord_channel(app_prop: str, **fields: Unpack[WithOptions]) -> Prop:
    """A channel that the Discord account in ``app_prop`` sees."""
    return Prop("$.discord.channel", own={"appProp": app_prop}, **fields)


def discord_channel_list(app_prop: str, **fields: Unpack[WithOptions]) -> Prop:
    """Several channels that the Discord account in ``app_prop`` sees."""
    return Prop("$.discord.channel[]", own={"appProp": app_prop}, **fields)


def _listed(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
