"""What an MCP server's tools cost here: a call beyond the server's own time, and adding many of them at once."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.mcp_server import SEARCH, McpServer, serving
from webapp.service.catalog.importing.records import Options
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.domain.instance import mcp_servers
from webapp.service.domain.instance.mcp_servers import Asker
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.outbound.placements import Placement
from webapp.settings import Settings

TOOLS = 200
TARGET_CALL_MS, TARGET_ADD_S = 6.0, 2.0
_KEY = "bench-key"


@dataclass(frozen=True, slots=True)
class ToolServers:
    """``call_ms``: CPU of the thread that calls a tool over a connection and session that are kept, the comparison with
    its pin included; ``first_ms``: the same where both, and the list, have to be had first. ``add_s``: by the clock,
    until ``tools`` of them are actions in the catalog."""

    tools: int
    call_ms: float
    first_ms: float
    add_s: float

    def text(self) -> str:
        """The lines to print."""
        reached = ["yes" if ok else "no" for ok in (self.call_ms <= TARGET_CALL_MS, self.add_s <= TARGET_ADD_S)]
        return (
            f"a call of an MCP server's tool: {self.call_ms:.2f} ms of CPU, the first one {self.first_ms:.1f} ms; "
            f"to reach ≤ {TARGET_CALL_MS:g}, {reached[0]}\n"
            f"a server of {self.tools} tools is added in {self.add_s:.2f} s; to reach ≤ {TARGET_ADD_S:g}, {reached[1]}"
        )


def measure(count: int) -> ToolServers:
    """Add a server of :data:`TOOLS` tools, and call one ``count`` times. Raises ``RuntimeError`` for a failed call."""
    tools = [{**SEARCH, "name": f"search_{number}"} for number in range(TOOLS)]
    with tempfile.TemporaryDirectory(prefix="patchbay-bench-") as folder, serving(tools=tools, key=_KEY) as server:
        settings = Settings.from_env({"PATCHBAY_ALLOW_HOSTS": server.host}, data=Path(folder), sandbox=False)
        service = open_service(settings)
        try:
            began = time.perf_counter()
            mcp_servers.add(service, server.url, "bench", Asker("bearer", _KEY), Options(auth="bearer"))
            add_s = time.perf_counter() - began
        finally:
            close_service(service)
        server.manner.page = TOOLS
        action = Path(folder, "apps", "bench", "actions", "search-7.toml")
        interpreter = Interpreter()
        first_ms, *rest_ms = (_called(interpreter, action, server) for _ in range(count + 1))
    return ToolServers(TOOLS, sum(rest_ms) / len(rest_ms), first_ms, add_s)


def _called(interpreter: Interpreter, action: Path, server: McpServer) -> float:
    """The milliseconds of CPU of one call."""
    bearer = (Placement("bearer", value="{token}"),)
    grant = AccountGrant({"token": _KEY}, f"http://{server.host}", {}, bearer, (server.host,), ("token",))
    call = Call(str(action), props={"query": "tea"}, accounts={"account": grant}, allow_hosts=(server.host,))
    began = time.thread_time()
    reply = interpreter.call(call)
    took_ms = (time.thread_time() - began) * 1_000
    if reply.error is not None:
        raise RuntimeError(reply.error.message)
    return took_ms
