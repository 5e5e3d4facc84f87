"""Our own tools, as strict clients take them."""

from jsonschema import Draft202012Validator

from webapp.service.components.tool_names import RESERVED
from webapp.service.mcp import own_tools


def test_each_is_reserved_and_strict() -> None:
    tools = own_tools.tools(searched=True)
    assert {tool["name"] for tool in tools} == RESERVED
    assert len(own_tools.tools(searched=False)) == 2
    for tool in tools:
        Draft202012Validator.check_schema(tool["inputSchema"])
