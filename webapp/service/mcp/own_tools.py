"""Our tools beside the actions, as agents see them: to look values up, to learn further arguments, to search.

What they do is :mod:`lookups`'s and :mod:`searching`'s.
"""

from typing import Any

from webapp.service.components.tool_names import CONFIGURATION, OPTIONS, RUN, SEARCH
from webapp.service.mcp.schemas import DYNAMIC_PROPS_ID

Tool = dict[str, Any]
MAX_HITS = 20
_TEXT = {"type": "string"}
_VALUES = {"type": "object", "additionalProperties": True}
_TOOL = {**_TEXT, "description": "The name of the tool."}
_SO_FAR = {**_VALUES, "description": "The tool's arguments as far as they are known, its account among them."}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}


def tools(*, searched: bool) -> list[Tool]:
    """Those that are listed; ``searched``: there are too many actions to list them all."""
    return [*(_SEARCHING if searched else ()), *_LOOKING_UP]


def _tool(
    name: str, title: str, description: str, required: list[str], hints: dict[str, bool], **arguments: Any
) -> Tool:
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


_LOOKING_UP = (
    _tool(
        OPTIONS,
        "List options",
        "Lists the values that an argument of a tool can have, such as projects or channels, each with its label. Use "
        "it where the argument's description says so, and give the value, not the label, to the tool.",
        ["tool", "prop"],
        _READS,
        tool=_TOOL,
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
        tool=_TOOL,
        arguments=_SO_FAR,
    ),
)
_SEARCHING = (
    _tool(
        SEARCH,
        "Search tools",
        "Finds tools by what they do, such as “create a task” or “send a message”, with the arguments that they take. "
        f"There are more tools than are listed. Run one that was found by its name, or with {RUN}.",
        ["query"],
        {**_READS, "openWorldHint": False},
        query={**_TEXT, "description": "Words about what is to be done, and the app."},
        limit={"type": "integer", "minimum": 1, "maximum": MAX_HITS, "description": "How many at most; 5 unless said."},
    ),
    _tool(
        RUN,
        "Run a tool",
        f"Runs a tool that {SEARCH} found, where it is not listed.",
        ["tool"],
        {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True},
        tool=_TOOL,
        arguments={**_VALUES, "description": "The tool's arguments."},
    ),
)
