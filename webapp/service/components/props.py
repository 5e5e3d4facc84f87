"""The props of a component, as declarations: one constructor for each type of the wire contract, and what all share.

A prop says what to ask for; it holds no value. ``options`` is either the list to choose from or the function that
finds it: a shared definition therefore carries its own, and :meth:`Prop.but` adapts one where it is used.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

if TYPE_CHECKING:
    from webapp.service.components.context import Context

Scalar = str | int | bool
AlertType = Literal["info", "neutral", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose: what a person reads, and what the component gets."""

    label: str
    value: Scalar

    def to_json(self) -> dict[str, Scalar]:
        """As the wire has it (specification 2.12)."""
        return {"label": self.label, "value": self.value}


@dataclass(frozen=True, slots=True)
class Options:
    """One page of what a prop offers. ``context`` comes back as ``ctx.previous`` when the next page is asked for."""

    items: Sequence[Option | str]
    context: Mapping[str, Any] | None = None


FindOptions = Callable[["Context"], Options]


class Common(TypedDict, total=False):
    """What every prop may say (specification 2.6)."""

    label: str
    description: str
    optional: bool
    disabled: bool
    read_only: bool
    hidden: bool
    reload_props: bool


class Choosing(Common, total=False):
    """What a prop with a choice may say besides. A function as ``options`` makes it a remote one."""

    options: Sequence[Option | Scalar] | FindOptions
    use_query: bool
    with_label: bool


class Text(Choosing, total=False):
    """A string: ``secret`` ones are masked and sealed; ``format`` may be ``file-ref``."""

    secret: bool
    format: str


class Number(Choosing, total=False):
    """An integer within ``min`` and ``max``, both included."""

    min: int
    max: int


@dataclass(frozen=True, slots=True, eq=False)
class Prop:
    """One prop of a component. Made by the constructors below, never by hand; ``own`` are its type's own fields."""

    type: str
    label: str | None = None
    description: str | None = None
    optional: bool = False
    disabled: bool = False
    read_only: bool = False
    hidden: bool = False
    reload_props: bool = False
    options: Sequence[Option | Scalar] | FindOptions | None = None
    use_query: bool = False
    with_label: bool = False
    secret: bool = False
    format: str | None = None
    min: int | None = None
    max: int | None = None
    default: Any = None
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def find_options(self) -> FindOptions | None:
        """The function that finds its options; None where there is none to call."""
        return self.options if callable(self.options) else None

    @property
    def static_options(self) -> tuple[Option, ...] | None:
        """The options that stand in the declaration; None where there are none."""
        if self.options is None or callable(self.options):
            return None
        return tuple(one if isinstance(one, Option) else Option(str(one), one) for one in self.options)

    def but(self, **changes: Any) -> "Prop":
        """The same prop with ``changes``: ``project.but(optional=True)``. Raises ``TypeError`` for an unknown one."""
        return replace(self, **changes)

    def to_json(self, name: str) -> dict[str, Any]:
        """As the wire has it (specification 2.6, WIRE "Prop types"): what is not set is left out."""
        static = self.static_options
        shared = {
            "label": self.label,
            "description": self.description,
            **{wire: getattr(self, ours) or None for ours, wire in _FLAGS.items()},
            "remoteOptions": callable(self.options) or self.type in _ALWAYS_REMOTE or None,
            "format": self.format,
            "min": self.min,
            "max": self.max,
            "default": self.default,
            "options": None if static is None else [one.to_json() for one in static],
        }
        given = {key: value for key, value in shared.items() if value is not None}
        return {"name": name, "type": self.type, **self.own, **given}


_FLAGS = {
    "optional": "optional",
    "disabled": "disabled",
    "read_only": "readOnly",
    "hidden": "hidden",
    "use_query": "useQuery",
    "reload_props": "reloadProps",
    "with_label": "withLabel",
    "secret": "secret",
}
_ALWAYS_REMOTE = frozenset({"$.airtable.baseId", "$.airtable.tableId", "$.airtable.viewId", "$.airtable.fieldId"})


def app(slug: str, **fields: Unpack[Common]) -> Prop:
    """A connected account of the app ``slug``."""
    return Prop("app", own={"app": slug}, **fields)


def alert(content: str, kind: AlertType = "info", **fields: Unpack[Common]) -> Prop:
    """A note to the person who fills the form in; it has no value."""
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


def boolean(*, default: bool | None = None, **fields: Unpack[Choosing]) -> Prop:
    """Yes or no."""
    return Prop("boolean", default=default, **fields)


def object_(*, default: Mapping[str, Any] | None = None, **fields: Unpack[Choosing]) -> Prop:
    """A JSON object."""
    return Prop("object", default=default, **fields)


def any_(*, default: Any = None, **fields: Unpack[Choosing]) -> Prop:
    """Any JSON value."""
    return Prop("any", default=default, **fields)


def sql(
    slug: str, *, tables: FindOptions | None = None, default: Mapping[str, Any] | None = None, **fields: Unpack[Common]
) -> Prop:
    """A query for the database of an account of the app ``slug``, with its parameters.

    ``tables`` finds what there is to query: it gives ``Options([], context={"dbInfo": ...})``.
    """
    start = default or {"value": "", "query": "", "params": [], "usePreparedStatements": True}
    return Prop("sql", default=start, options=tables, own={"auth": {"app": slug}}, **fields)


def http_request(*, default: Mapping[str, Any] | None = None, **fields: Unpack[Common]) -> Prop:
    """An HTTP request as a person puts it together."""
    return Prop("http_request", default=default, **fields)


def data_store(**fields: Unpack[Common]) -> Prop:
    """A data store of the project."""
    return Prop("data_store", **fields)


def dir_(
    access: Literal["read", "write", "read-write"] | None = None, *, sync: bool | None = None, **fields: Unpack[Common]
) -> Prop:
    """A folder for files. Infrastructure: never asked of a person."""
    return Prop("dir", own=_given(accessMode=access, sync=sync), **fields)


def http_interface(*, custom_response: bool = False, **fields: Unpack[Common]) -> Prop:
    """An address that receives HTTP requests. Infrastructure."""
    return Prop("$.interface.http", own=_given(customResponse=custom_response or None), **fields)


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
    remote: bool | None = None,
    static: Sequence[Any] | None = None,
    **fields: Unpack[Common],
) -> Prop:
    """Events that the app of ``app_prop`` sends by itself. Infrastructure."""
    own = _given(appProp=app_prop, eventNames=list(events), remote=remote, static=_listed(static))
    return Prop("$.interface.apphook", own=own, **fields)


def service_db(**fields: Unpack[Common]) -> Prop:
    """Where a trigger keeps what it has seen. Infrastructure: ``ctx.db``."""
    return Prop("$.service.db", **fields)


def airtable_base(app_prop: str, **fields: Unpack[Choosing]) -> Prop:
    """A base of the Airtable account in ``app_prop``."""
    return Prop("$.airtable.baseId", own={"appProp": app_prop}, **fields)


def airtable_table(base_prop: str, **fields: Unpack[Choosing]) -> Prop:
    """A table of the base in ``base_prop``."""
    return Prop("$.airtable.tableId", own={"baseIdProp": base_prop}, **fields)


def airtable_view(table_prop: str, **fields: Unpack[Choosing]) -> Prop:
    """A view of the table in ``table_prop``."""
    return Prop("$.airtable.viewId", own={"tableIdProp": table_prop}, **fields)


def airtable_field(table_prop: str, **fields: Unpack[Choosing]) -> Prop:
    """A field of the table in ``table_prop``."""
    return Prop("$.airtable.fieldId", own={"tableIdProp": table_prop}, **fields)


def discord_channel(app_prop: str, **fields: Unpack[Choosing]) -> Prop:
    """A channel that the Discord account in ``app_prop`` sees."""
    return Prop("$.discord.channel", own={"appProp": app_prop}, **fields)


def discord_channel_list(app_prop: str, **fields: Unpack[Choosing]) -> Prop:
    """Several channels that the Discord account in ``app_prop`` sees."""
    return Prop("$.discord.channel[]", own={"appProp": app_prop}, **fields)


def _listed(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
