"""The arguments of a tool: their JSON Schema 2020-12, from the props of its action, and the request that they
become, with the account to use (contract "Agents").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from webapp.errors import Invalid, NotFound
from webapp.kit.text import one_line
from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.props import FILE, JSON
from webapp.service.components.tool_names import CONFIGURATION, OPTIONS, UPLOAD
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import component_requests, file_stash, prop_values
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.prop_values import METHODS, NEVER_ASKED, is_required, option_value
from webapp.service.mcp.authentication import Visitor

Prop = Mapping[str, Any]
Schema = dict[str, Any]
MAX_CHOICES = 200
"""So many options stand in a schema; more are looked up."""
MAX_SCHEMA = 4_000
"""So many bytes of arguments are described as they are."""
_LENGTHS, _REQUIRED_LENGTH = (400, 160, 60, 0), 120
ARGUMENT = "account"
Arguments = Mapping[str, Any]
DYNAMIC_PROPS_ID = "dynamic_props_id"
_TEXT: Schema = {"type": "string"}
_NAMED_VALUES: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": _TEXT, "value": _TEXT},
        "required": ["name", "value"],
        "additionalProperties": False,
    },
}
_SQL: Schema = {
    "type": "object",
    "properties": {"query": _TEXT, "params": {"type": "array", "items": _TEXT}},
    "required": ["query"],
    "additionalProperties": False,
}
_HTTP_REQUEST: Schema = {
    "type": "object",
    "properties": {
        "method": {"type": "string", "enum": sorted(METHODS)},
        "url": _TEXT,
        "headers": _NAMED_VALUES,
        "params": _NAMED_VALUES,
        "body": {"type": "object", "additionalProperties": True},
    },
    "required": ["url"],
    "additionalProperties": False,
}
_TYPES: Mapping[str, Schema] = {
    "string": _TEXT,
    "string[]": {"type": "array", "items": _TEXT},
    "integer": {"type": "integer"},
    "integer[]": {"type": "array", "items": {"type": "integer"}},
    "boolean": {"type": "boolean"},
    "object": {"type": "object", "additionalProperties": True},
    "any": {},
    "sql": _SQL,
    "http_request": _HTTP_REQUEST,
    "data_store": _TEXT,
    "$.discord.channel[]": {"type": "array", "items": _TEXT},
}
_UNASKED = NEVER_ASKED | {"app"}


def input_schema(props: Sequence[Prop], *, reloads: bool) -> Schema:
    """The JSON Schema for an action with these ``props``; with ``reloads``, more props depend on the values."""
    shown = [prop for prop in props if _is_asked(prop)]
    properties = {prop["name"]: _property(prop) for prop in shown}
    if reloads:
        description = f"What {CONFIGURATION} answered, where this tool takes arguments beyond those that stand here."
        properties[DYNAMIC_PROPS_ID] = {"type": "string", "description": description}
    required = [prop["name"] for prop in shown if is_required(prop) and prop.get("default") is None]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": reloads,
    }


def trimmed(schema: Schema) -> Schema:
    """``schema`` with shorter descriptions, if it is longer than :data:`MAX_SCHEMA`: first those of optional arguments.

    Every argument keeps its name, type and choices, so that a model can still give it.
    """
    required, properties = set(schema.get("required", ())), schema["properties"]
    for limit in _LENGTHS:
        if len(orjson.dumps(schema)) <= MAX_SCHEMA:
            break
        cut = {
            name: _shortened(each, max(limit, _REQUIRED_LENGTH) if name in required else limit)
            for name, each in properties.items()
        }
        schema = {**schema, "properties": cut}
    return schema


def _shortened(schema: Schema, limit: int) -> Schema:
    kept = {name: value for name, value in schema.items() if name != "description"}
    if "description" in schema and limit:
        return {**kept, "description": one_line(schema["description"], limit)}
    return kept


def _is_asked(prop: Prop) -> bool:
    """Whether an agent may give a value for ``prop``, other than an account."""
    return prop["type"] not in _UNASKED and not any(prop.get(flag) for flag in ("hidden", "disabled", "readOnly"))


def has_lookup(prop: Prop) -> bool:
    """Whether the values of ``prop`` can be looked up."""
    return bool(_is_asked(prop) and (prop.get("remoteOptions") or len(prop.get("options") or ()) > MAX_CHOICES))


def _property(prop: Prop) -> Schema:
    schema = dict(_TYPES["any"] if prop.get("format") == JSON else _TYPES.get(prop["type"], _TEXT))
    title = prop.get("label")
    options = [] if prop.get("remoteOptions") else prop.get("options") or []
    if 0 < len(options) <= MAX_CHOICES and prop["type"] != "any":
        choices = {"enum": list(dict.fromkeys(option_value(option) for option in options))}
        schema |= {"items": schema["items"] | choices} if "items" in schema else choices
    bounds = {"minimum": prop.get("min"), "maximum": prop.get("max")}
    limits = {name: value for name, value in bounds.items() if value is not None}
    schema |= {"items": schema["items"] | limits} if "items" in schema else limits
    words = (prop.get("description"), _labels(options), _lookup(prop), _file(prop))
    description = " ".join(text for text in words if text)
    return {
        **schema,
        **({"title": title} if title else {}),
        **({"description": description} if description else {}),
        **({"default": prop["default"]} if prop.get("default") is not None else {}),
    }


def _labels(options: Sequence[Any]) -> str:
    """The labels of the options that differ from their values."""
    pairs = [(option_value(option), option.get("label")) for option in options if isinstance(option, dict)]
    labels = [f"{value}: {label}" for value, label in pairs if label and str(label) != str(value)]
    return f"One of {'; '.join(labels)}." if 0 < len(labels) <= MAX_CHOICES else ""


def _lookup(prop: Prop) -> str:
    return f"Look values up with {OPTIONS} (prop {prop['name']})." if has_lookup(prop) else ""


def _file(prop: Prop) -> str:
    """How an agent gives a file."""
    if prop.get("format") != FILE:
        return ""
    return f"The address of a file, the value that {UPLOAD} answered, or a data URL for a small one."


@dataclass(frozen=True, slots=True)
class AccountArgument:
    """The argument ``name`` that chooses the account for ``prop``. ``accounts`` are those of its app, oldest first."""

    name: str
    prop: Prop
    accounts: Sequence[Account]

    @property
    def usable(self) -> list[Account]:
        """The accounts that are not known to be dead."""
        return [account for account in self.accounts if not account.dead]

    @property
    def is_needed(self) -> bool:
        """Whether the tool requires an account."""
        return not self.prop.get("optional")

    def schema(self) -> dict[str, Any]:
        """The argument as JSON Schema, with the names of the accounts."""
        accounts = self.usable
        named = "; ".join(f"{account.id} is {name_of(account)}" for account in accounts)
        return {
            "type": "string",
            "enum": [account.id for account in accounts],
            "description": f"The connected account to use: {named}.",
        }

    def choose(self, wanted: Any) -> Account | None:
        """The account ``wanted`` by its id or name; without one, the only account, or None.

        Raises :class:`Invalid` if one of several must be named, :class:`NotFound` for an unknown one.
        """
        if wanted is None:
            if len(self.usable) > 1 and self.is_needed:
                names = ", ".join(f"{account.id} ({name_of(account)})" for account in self.usable)
                raise Invalid(f"Several accounts are connected. Say in {self.name} which one to use: {names}.")
            return self.usable[0] if len(self.usable) == 1 else None
        for account in self.accounts:
            if wanted in (account.id, account.name, account.identity_name):
                return account
        raise NotFound("There is no such account.")


def account_arguments(props: Sequence[Prop], accounts: Sequence[Account]) -> list[AccountArgument]:
    """The account arguments of an action with ``props``, chosen from the person's ``accounts``."""
    takers = [prop for prop in props if prop["type"] == "app"]
    taken = {prop["name"] for prop in props if prop["type"] != "app"}
    return [
        AccountArgument(
            _name(prop, alone=len(takers) == 1, taken=taken),
            prop,
            [account for account in accounts if account.app == prop["app"]],
        )
        for prop in takers
    ]


def name_of(account: Account) -> str:
    """The name of an account for people."""
    return account.name or account.identity_name or account.id


def _name(prop: Prop, *, alone: bool, taken: set[str]) -> str:
    name = ARGUMENT if alone else f"{prop['name']}_{ARGUMENT}"
    return name if name not in taken else f"connected_{name}"


class Unconnected(Exception):
    """No account of the app ``app`` is connected; ``dead`` is one to reconnect, with what ``action`` needs besides."""

    def __init__(self, app: str, dead: Account | None = None, action: str = "") -> None:
        super().__init__(app)
        self.app, self.dead, self.action = app, dead, action


def as_request(
    service: Service, visitor: Visitor, agent: str, component: ComponentInfo, arguments: Arguments
) -> ComponentRequest:
    """Return the request of ``agent`` to ``component`` with ``arguments``.

    Raises :class:`Unconnected`, :class:`webapp.errors.NotFound` and :class:`Invalid`.
    """
    # the label would be the agent's own text
    values = {name: prop_values.unwrapped(value)[0] for name, value in arguments.items()}
    dynamic_props_id = values.get(DYNAMIC_PROPS_ID)
    if component.has_reload:
        values.pop(DYNAMIC_PROPS_ID, None)
        if not isinstance(dynamic_props_id, str | None):
            raise Invalid.of(DYNAMIC_PROPS_ID, "It must be text, as it was answered.")
    user = visitor.user(service)
    of_user = accounts.of_user(service.store, user) if user else ()
    for choice in account_arguments(component.props, of_user):
        account = choice.choose(values.pop(choice.name, None))
        if account is not None and not account.dead:
            values[choice.prop["name"]] = {"authProvisionId": account.id}
        elif choice.is_needed:
            raise Unconnected(choice.prop["app"], account or next(iter(choice.accounts), None))
    known = dynamic_props_id if component.has_reload else None
    added = component_requests.reloaded(service, visitor.scene, visitor.external_id, component, known)
    return ComponentRequest(
        scene=visitor.scene,
        external_id=visitor.external_id,
        component=component,
        configured=component_requests.by_own_names(component, values, added),
        dynamic_props_id=known or None,
        stash_id=file_stash.new_stash_id() if _writes_files(component) else None,
        agent=agent,
    )


def _writes_files(component: ComponentInfo) -> bool:
    return bool(orjson.loads(component.json).get("stash"))
