"""A call of a tool as it comes in: by whom, of what, with which arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webapp.errors import Invalid
from webapp.service.catalog.components import ComponentInfo
from webapp.service.domain.agents.sessions import AgentSession
from webapp.service.domain.base.service import Service
from webapp.service.domain.components.requests import ComponentRequest
from webapp.service.mcp import protocol, requests, tools
from webapp.service.mcp.conversations import Client
from webapp.service.mcp.line import Line
from webapp.service.mcp.protocol import ProtocolError
from webapp.service.mcp.visitors import Visitor

NO_TOOL = "There is no such tool; look its name up in the list of tools."


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the agent of ``session``, whose program is ``client`` and who works for ``visitor``, wants done.

    ``params`` are all that came with it; ``line`` is where it hears how the call goes on.
    """

    service: Service
    visitor: Visitor
    client: Client
    session: AgentSession
    line: Line
    name: str
    arguments: Mapping[str, Any]
    params: Mapping[str, Any]

    def action(self, name: str) -> ComponentInfo:
        """The action that is the tool ``name``.

        Raises :class:`ProtocolError`, in the same words for one that is not to be seen as for one that is not there.
        """
        component = tools.find(self.service, self.visitor, name)
        if component is None:
            raise ProtocolError(protocol.INVALID_PARAMS, NO_TOOL)
        return component

    def request(self, component: ComponentInfo, arguments: Mapping[str, Any]) -> ComponentRequest:
        """What is asked of ``component``. Raises :class:`requests.Unconnected`, ``NotFound`` and ``Invalid``."""
        return requests.of_tool(self.service, self.visitor, self.session.name, component, arguments)

    def text(self, name: str) -> str:
        """The argument ``name``, which must be there. Raises :class:`Invalid`."""
        value = self.arguments.get(name)
        if not isinstance(value, str) or not value.strip():
            raise Invalid.of(name, "It is missing; send it as text.")
        return value

    def number(self, name: str, default: int, most: int) -> int:
        """The whole number ``name``, from 0 to ``most``. Raises :class:`Invalid`."""
        value = self.arguments.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise Invalid.of(name, f"It must be a whole number from 0 to {most:,}.")
        return value

    def values(self, name: str) -> dict[str, Any]:
        """The object ``name``, empty unless it is there. Raises :class:`Invalid`."""
        value = self.arguments.get(name)
        if not isinstance(value, dict | None):
            raise Invalid.of(name, "It must be an object.")
        return value or {}
