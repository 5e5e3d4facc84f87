"""PyPI's ``mcp`` client, unmodified, in the modern revision and as an older one."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from tests.fakes.installation import Installation
from tests.peers.agents import carry_out, connect, headers, installation
from webapp.kit.cursors import Window
from webapp.service.domain.components import runs

pytestmark = pytest.mark.peer


@asynccontextmanager
async def client(served: Installation, way: str, mode: Any, **more: Any) -> AsyncIterator[Client]:
    sent = headers(served, way, "alice") | more.pop("headers", {})
    async with (
        httpx2.AsyncClient(headers=sent, timeout=60) as http,
        Client(streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode, **more) as opened,
    ):
        yield opened


def last_run(served: Installation) -> runs.Run:
    return next(iter(runs.page(served.service.store, served.scene, runs.Filter(), Window()).items))


@pytest.fixture
def served(data: Path) -> Any:
    with installation(data) as running:
        yield running


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["token", "client", "person"])
def test_it_lists_calls_and_reads_errors(served: Installation, way: str, mode: str) -> None:
    async def talk() -> None:
        async with client(served, way, mode, headers={"x-pd-app-slug": "sandbox,trello,linear"}) as narrow:
            first = await narrow.list_tools()
            rest = await narrow.list_tools(cursor=first.next_cursor)
            assert first.next_cursor and rest.next_cursor is None
            names = [tool.name for tool in (*first.tools, *rest.tools)]
            assert "sandbox_create_task" in names and len(set(names)) == len(names) > 25
        async with client(served, way, mode) as agent:
            assert (await agent.call_tool("slow", {"seconds": 0})).content[0].text == "awake"  # type: ignore[union-attr]
            wrong = await agent.call_tool("slow", {"seconds": "many"})
            assert wrong.is_error and "whole number" in wrong.content[0].text  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="There is no such tool"):
                await agent.call_tool("nothing", {})

    carry_out(talk)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_account_is_connected_in_the_middle_of_a_call(served: Installation, mode: str) -> None:
    shown = list[str]()

    async def show(_: Any, params: Any) -> ElicitResult:
        shown.append(params.url)
        connect(served, "alice")
        return ElicitResult(action="accept")

    async def talk() -> None:
        async with client(served, "token", mode, elicitation_callback=show) as agent:
            assert (await agent.call_tool("who", {})).content[0].text == "somebody"  # type: ignore[union-attr]

    carry_out(talk)
    (url,) = shown
    assert url.startswith(f"{served.url}/_static/connect.html?token=ctok_") and url.endswith("app=sandbox")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_progress_is_reported_and_a_cancelled_call_ends(served: Installation, mode: str) -> None:
    steps = list[float]()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    async def talk() -> None:
        async with client(served, "token", mode) as agent:
            done = await agent.call_tool("slow", {"seconds": 3}, progress_callback=note)
            assert done.content[0].text == "awake" and len(steps) > 1 and steps == sorted(steps)  # type: ignore[union-attr]
            with anyio.move_on_after(1.5):
                await agent.call_tool("slow", {"seconds": 25})
            await until(lambda: last_run(served).status == "failed")

    carry_out(talk)
    assert "It was cancelled by the caller." in str(last_run(served).error) and last_run(served).took_ms < 15_000


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(15):
        while not true():
            await anyio.sleep(0.1)
