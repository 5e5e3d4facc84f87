"""The tools of one agent: the actions that it may use, and five tools of ours, which look up values, learn further
arguments, take files, search, and run an action by its name (contract "Agents").
"""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from webapp.service.catalog.components import ComponentInfo
from webapp.service.components.tool_names import CONFIGURATION, OPTIONS, RUN, SEARCH, UPLOAD, NamedAction, ToolNames
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.agents import permissions
from webapp.service.domain.agents.permissions import Permissions
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import runs
from webapp.service.mcp import arguments
from webapp.service.mcp.arguments import DYNAMIC_PROPS_ID
from webapp.service.mcp.authentication import Visitor

OwnTool = dict[str, Any]
MAX_HITS = 20
_TEXT = {"type": "string"}
_VALUES = {"type": "object", "additionalProperties": True}
_TOOL_NAME = {**_TEXT, "description": "The name of the tool."}
_SO_FAR = {**_VALUES, "description": "The tool's arguments as far as they are known, its account among them."}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}
Tool = dict[str, Any]
MAX_LISTED = 40
PAGE = 25
MAX_LIST_BYTES = 36_000
"""The tools of one page or search are JSON of so many bytes; the rest is on the next page."""
MAX_DESCRIPTION = 1_000
ASKED = "The person is asked before it runs."


def own_tools(*, searched: bool) -> list[OwnTool]:
    """Our own tools; ``searched`` says that there are too many actions to list them all."""
    return [*(_SEARCHING if searched else ()), *_PREPARING]


def _tool(
    name: str, title: str, description: str, required: list[str], hints: dict[str, bool], /, **arguments: Any
) -> OwnTool:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": arguments,
            "required": required,
            "additionalProperties": False,
        },
        "annotations": {"title": title, **hints},
    }


_PREPARING = (
    _tool(
        OPTIONS,
        "List options",
        "Lists the values that an argument of a tool can have, such as projects or channels, each with its label. Use "
        "it where the argument's description says so, and give the value, not the label, to the tool.",
        ["tool", "prop"],
        _READS,
        tool=_TOOL_NAME,
        prop={**_TEXT, "description": "The name of the argument."},
        query={**_TEXT, "description": "Words to search the values for."},
        page={"type": "integer", "minimum": 0, "description": "Which page of the values, from 0."},
        context={**_VALUES, "description": "The context that the page before answered."},
        arguments=_SO_FAR,
    ),
    _tool(
        CONFIGURATION,
        "Begin a configuration",
        "Asks which further arguments a tool takes once some are known, such as the fields of a chosen table. Send "
        f"its answer's {DYNAMIC_PROPS_ID} with the further arguments to the tool.",
        ["tool"],
        _READS,
        tool=_TOOL_NAME,
        arguments=_SO_FAR,
    ),
    _tool(
        UPLOAD,
        "Upload a file",
        "Gives an address to which the content of a file is sent, and the value by which other tools take the file "
        "then. Use it for a file without an address of its own. Up to 10 MiB are taken, once, within half an hour, and "
        "kept for a day.",
        ["name"],
        {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
        name={**_TEXT, "description": "What the file is called, with its ending, such as report.pdf."},
    ),
)
_SEARCHING = (
    _tool(
        SEARCH,
        "Search tools",
        "Finds the tools that do what a sentence says, such as “create a task in Asana” or “what is on my calendar”, "
        "the likeliest first, with the arguments that they take. There are more tools than are listed. Run one that "
        f"was found by its name, or with {RUN}.",
        ["query"],
        {**_READS, "openWorldHint": False},
        query={
            **_TEXT,
            "description": "What is to be done, in the person's words, and with which app if that is known.",
        },
        limit={"type": "integer", "minimum": 1, "maximum": MAX_HITS, "description": "How many at most; 5 unless said."},
    ),
    _tool(
        RUN,
        "Run a tool",
        f"Runs a tool that {SEARCH} found, where it is not listed.",
        ["tool"],
        {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True},
        tool=_TOOL_NAME,
        arguments={**_VALUES, "description": "The tool's arguments."},
    ),
)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one agent.

    ``accounts`` are those of its person, oldest first; ``apps`` are the slugs to which it is limited, if any.
    """

    names: ToolNames
    apps: tuple[str, ...]
    permissions: Permissions
    accounts: Sequence[Account]

    @property
    def actions(self) -> Sequence[NamedAction]:
        """The actions by name. There may be a hundred thousand, so iterate over them only if necessary."""
        actions = self.names.of_apps(self.apps)
        chosen = (*self.permissions.apps.values(), *self.permissions.actions.values())
        return [action for action in actions if self._shows(action)] if "off" in chosen else actions

    @property
    def hidden_apps(self) -> frozenset[str]:
        """The apps none of whose actions the agent may see, since the person has switched them off."""
        off = {app for app, level in self.permissions.apps.items() if level == "off"}
        chosen = (self.names.of_key(key) for key, level in self.permissions.actions.items() if level != "off")
        return frozenset(off - {action.app for action in chosen if action})

    def has(self, key: str) -> bool:
        """Whether the agent may see the action with that key."""
        action = self.names.of_key(key)
        return action is not None and self._shows(action)

    def _shows(self, action: NamedAction) -> bool:
        """Whether it belongs to the agent's apps and the person has not switched it off; actions are on by default."""
        chosen = self.permissions.actions.get(action.key) or self.permissions.apps.get(action.app or "")
        return chosen != "off" and (not self.apps or action.app in self.apps)


def toolbox(service: Service, visitor: Visitor) -> Toolbox:
    """The tools of the agent that works for ``visitor``."""
    user = visitor.user(service)
    return Toolbox(
        service.catalog.tool_names(),
        visitor.apps,
        permissions.of_user(service.store, user),
        accounts.of_user(service.store, user) if user else (),
    )


def find(service: Service, visitor: Visitor, name: str) -> ComponentInfo | None:
    """The action that the agent may use under ``name``; None if there is none or it is hidden."""
    names, permitted = service.catalog.tool_names(), permissions.of_user(service.store, visitor.user(service))
    action = names.of_name(name)
    if action is None or not Toolbox(names, visitor.apps, permitted, ()).has(action.key):
        return None
    return service.catalog.component(action.key)


def listed(service: Service, visitor: Visitor, after: str) -> tuple[list[Tool], str]:
    """One page of the tools after the name ``after``, and the name to continue from; "" after the last."""
    box = toolbox(service, visitor)
    actions = box.actions
    is_many = len(actions) > MAX_LISTED
    if is_many:
        actions = _recent(service, visitor, box)
    searched = is_many or box.names.is_searched(box.apps)
    ours = {tool["name"]: tool for tool in own_tools(searched=searched)}
    names = sorted([*ours, *(action.name for action in actions)])
    page = [name for name in names if name > after][: PAGE + 1]
    keys = {action.name: action.key for action in actions}
    tools = fitting(ours[name] if name in ours else drawn(service, box, keys[name]) for name in page[:PAGE])
    shown = [tool for tool in tools if tool]
    return shown, page[len(tools) - 1] if len(tools) < len(page) else ""


def fitting(tools: Iterable[Tool]) -> list[Tool]:
    """As many of the first ``tools`` as :data:`MAX_LIST_BYTES` hold, at least one."""
    kept, room = list[Tool](), MAX_LIST_BYTES
    for tool in tools:
        room -= len(orjson.dumps(tool))
        if kept and room < 0:
            break
        kept.append(tool)
    return kept


def drawn(service: Service, box: Toolbox, key: str) -> Tool:
    """The action ``key`` as a tool; empty if it was removed meanwhile."""
    component = service.catalog.component(key)
    action = box.names.of_key(key)
    if component is None or action is None:
        return {}
    tool = base(action.name, component.json, component.has_reload)
    if box.permissions.level(component) == "ask":
        tool = {**tool, "description": f"{tool['description']} {ASKED}"}
    several = [
        choice for choice in arguments.account_arguments(component.props, box.accounts) if len(choice.usable) > 1
    ]
    if not several:
        return tool
    schema = tool["inputSchema"]
    required = [*schema.get("required", ()), *(choice.name for choice in several if choice.is_needed)]
    properties = {**{choice.name: choice.schema() for choice in several}, **schema["properties"]}
    more = {"required": required} if required else {}
    return {**tool, "inputSchema": {**schema, "properties": properties, **more}}


@functools.lru_cache(maxsize=1024)
def base(name: str, json: bytes, reloads: bool) -> Tool:
    """An action as a tool for a person with one account of each app. It is shared, so callers must not change it."""
    component = orjson.loads(json)
    description = component["description"]
    return {
        "name": name,
        "title": component["name"],
        "description": description[:MAX_DESCRIPTION],
        "inputSchema": arguments.trimmed(arguments.input_schema(component["configurable_props"], reloads=reloads)),
        "annotations": component["annotations"],
    }


def _recent(service: Service, visitor: Visitor, box: Toolbox) -> list[NamedAction]:
    """The actions that were run recently for this person, up to the length of a list."""
    keys = runs.recent_action_keys(service.store, visitor.scene, visitor.external_id)
    known = (box.names.of_key(key) for key in keys if box.has(key) and key not in box.names.searched)
    return [action for action in known if action][:MAX_LISTED]
