"""Finding tools by what they do, where there are too many to list."""

from webapp.kit import cursors
from webapp.service.catalog.components import ComponentFilter, ComponentInfo
from webapp.service.mcp import own_tools, results, tools
from webapp.service.mcp.calls import ToolCall
from webapp.service.mcp.results import Result
from webapp.service.mcp.tools import Toolbox

FEW = 5
MAX_WORDS = 12
_NOTHING = "No tool does that. Try other words, such as the name of the app or of what is to be made."


def search(call: ToolCall) -> Result:
    """The tools whose name, app or description has words that begin so: those of connected apps before others, and
    among them those whose name has the words.

    The first twelve words count. Where no tool has all of them, the last one is left out, and so on. Raises
    :class:`webapp.errors.Invalid`.
    """
    words, most = (
        call.text("query").split(maxsplit=MAX_WORDS)[:MAX_WORDS],
        call.number("limit", FEW, own_tools.MAX_HITS),
    )
    box = tools.toolbox(call.service, call.visitor)
    connected = {account.app for account in box.accounts}
    components = list[ComponentInfo]()
    while words and not components:
        components = _matching(call, " ".join(words), box)
        words.pop()
    components.sort(key=lambda component: component.app not in connected)
    keys = [component.key for component in components[: max(1, most)]]
    drawn = [tool for key in keys if (tool := tools.drawn(call.service, box, key))]
    if not drawn:
        return results.text(_NOTHING)
    return results.data({"tools": drawn})


def _matching(call: ToolCall, query: str, box: Toolbox) -> list[ComponentInfo]:
    """The usable actions that have all words of ``query``."""
    components = list[ComponentInfo]()
    for app in call.visitor.apps or (None,):
        narrowed = ComponentFilter.of(query, app, "action", "all")
        page = call.service.catalog.components(narrowed, cursors.Window(limit=cursors.MAX_LIMIT))
        components += [component for component in page.items if box.has(component.key)]
    return components
