"""A prop: an input of a component, with the fields that props of all types share.

A prop has no value. ``options`` is either the list to choose from or the function that finds it, so that a prop shared
by several components brings its own; :meth:`Prop.but` adapts a shared prop. The constructors, one for each type, are in
:mod:`prop_types`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict

from webapp.service.components.options import FindOptions, Option, Scalar

JSON = "json"
"""The format of a string that holds JSON: forms that know only the types of the contract can draw it."""
FILE = "file-ref"
"""The format of a string that names a file."""
PropType = Literal[
    "app", "alert", "string", "string[]", "integer", "integer[]", "boolean", "object", "any", "sql", "http_request",
    "$.interface.timer", "$.interface.http", "$.interface.apphook", "$.service.db", "data_store", "dir",
    "$.airtable.baseId", "$.airtable.tableId", "$.airtable.viewId", "$.airtable.fieldId", "$.discord.channel",
    "$.discord.channel[]",
]  # fmt: skip


class Common(TypedDict, total=False):
    """The fields of every prop (contract "Props")."""

    label: str
    description: str
    optional: bool
    disabled: bool
    read_only: bool
    hidden: bool
    reload_props: bool
    aliases: tuple[str, ...]


class WithOptions(Common, total=False):
    """The fields of a prop that may have options. If ``options`` is a function, they are found on request."""

    options: Sequence[Option | Scalar] | FindOptions
    use_query: bool
    with_label: bool


class Text(WithOptions, total=False):
    """A string. The value of a ``secret`` one is masked and encrypted; ``format`` may be ``file-ref`` or ``json``."""

    secret: bool
    format: str


class Number(WithOptions, total=False):
    """An integer between ``min`` and ``max``, both inclusive."""

    min: int
    max: int


@dataclass(frozen=True, slots=True, eq=False)
class Prop:
    """One prop of a component. Made by the constructors of ``prop_types``; ``own`` are its type's own fields.

    ``aliases`` are other names under which callers may send its value.
    """

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
    aliases: tuple[str, ...] = ()
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def find_options(self) -> FindOptions | None:
        """The function that finds the options, or None."""
        return self.options if callable(self.options) else None

    @property
    def static_options(self) -> tuple[Option, ...] | None:
        """The options in the declaration, or None."""
        if self.options is None or callable(self.options):
            return None
        return tuple(option if isinstance(option, Option) else Option(str(option), option) for option in self.options)

    def but(self, **changes: Any) -> "Prop":
        """The same prop with ``changes``: ``project.but(optional=True)``. Raises ``TypeError`` for an unknown one."""
        return replace(self, **changes)

    def to_json(self, name: str) -> dict[str, Any]:
        """The prop as the API lists it (contract "Props", "Prop types"), without fields that are not set."""
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
            "options": None if static is None else [option.to_json() for option in static],
        }
        filled = {key: value for key, value in shared.items() if value is not None}
        return {"name": name, "type": self.type, **self.own, **filled}


def as_json_text(prop: Prop) -> Prop:
    """``prop`` of any JSON value as a string that holds JSON, which every form can draw."""
    default = prop.default if prop.default is None or isinstance(prop.default, str) else json.dumps(prop.default)
    return prop.but(type="string", format=JSON, default=default)


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
