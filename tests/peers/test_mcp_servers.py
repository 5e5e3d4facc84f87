"""MCP servers that nobody here wrote, as apps: npm's ``server-everything``, and one on PyPI's ``mcp``."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.fakes.installation import Installation
from tests.fakes.ports import free_port
from webapp.service.catalog.importing import documents, mcp_tools
from webapp.service.catalog.importing.plans import plan
from webapp.service.catalog.importing.records import Options
from webapp.service.domain.instance import app_imports, mcp_servers
from webapp.service.domain.instance.mcp_servers import Asker
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.mcp import McpClient, McpFailure, ToolList
from webapp.service.outbound.responses import Response

pytestmark = pytest.mark.peer
HERE = Path(__file__).parent
EVERYTHING = HERE.parents[1] / "instance/node/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
NODE, PYTHON = ("streamableHttp", "sse"), ("streamable", "json", "stateless", "sse")
MOST_CPU_MS = 6.0


@contextmanager
def running(manner: str) -> Iterator[str]:
    """The address of a server: one of npm for a manner of NODE, else one of PyPI."""
    kind, _, way = manner.partition(":")
    port = free_port()
    if kind == "node":
        command, env = [_node(), str(EVERYTHING), way], {**os.environ, "PORT": str(port)}
    else:
        command, env = [sys.executable, str(HERE / "mcp_server.py"), str(port), way], dict(os.environ)
    path = "sse" if way == "sse" else "mcp"
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}/{path}"
            _wait(process, url)
            yield url
        finally:
            process.kill()


def _wait(process: "subprocess.Popen[bytes]", url: str) -> None:
    for _ in range(300):
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            requests.options(url, timeout=5)
            return
        except requests.ConnectionError:
            time.sleep(0.1)
    pytest.fail("the server does not start")


def _node() -> str:
    node = shutil.which("node")
    if node and EVERYTHING.is_file():
        return node
    missing = "server-everything is not installed" if node else "there is no node"
    reason = f"{missing}; `python -m webapp.frontend --tests` installs what the tests run against"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def speaker(own: str, notes: list[str] | None = None) -> McpClient:
    host = own.split("/")[2]
    outbound = OutboundClient(Guard([host]), user_agent="Patchbay-Test")

    def ask(
        method: str, headers: Mapping[str, str], body: bytes | None, watch: Any, url: str = ""
    ) -> Response | Failure:
        return outbound.request(method, url or own, headers=headers, data=body, watch=watch)

    return McpClient(own, ask, None, (notes if notes is not None else list[str]()).append)


@pytest.mark.parametrize("way", NODE)
def test_everything_of_npm_is_listed_and_called(way: str) -> None:
    notes = list[str]()
    with running(f"node:{way}") as url:
        client = speaker(url, notes)
        tools = client.tools()
        assert isinstance(tools, ToolList)
        assert {"echo", "get-sum", "get-tiny-image"} <= {tool["name"] for tool in tools.tools}
        added = client.call("get-sum", {"a": 1, "b": 2})
        assert not isinstance(added, McpFailure)
        assert added["content"][0]["text"] == "The sum of 1 and 2 is 3."
        assert not isinstance(client.call("trigger-long-running-operation", {"duration": 1, "steps": 2}), McpFailure)
        assert notes == ["1 of 2", "2 of 2"]
        assert client.ping() == {}
        client.end()
        content = mcp_tools.listing(url, {"name": "everything"}, tools.tools)
        planned = plan(documents.read(content), "everything", Options(auth="none"))
        assert (len(planned.actions), planned.left) == (len(tools.tools), [])


@pytest.mark.parametrize("way", PYTHON)
def test_a_server_of_pypi_is_listed_and_called(way: str) -> None:
    notes = list[str]()
    with running(f"python:{way}") as url:
        client = speaker(url, notes)
        tools = client.tools()
        assert isinstance(tools, ToolList)
        assert [tool["name"] for tool in tools.tools] == ["weather", "slow", "picture", "fails"]
        result = client.call("weather", {"city": "Bern"})
        assert not isinstance(result, McpFailure)
        assert result["structuredContent"] == {"degrees": 5.0, "sunny": True}
        assert not isinstance(client.call("slow", {"steps": 2}), McpFailure)
        if way != "json":
            assert notes == ["Thinking (1 of 2)", "Thinking (2 of 2)"]
        failed = client.call("fails", {})
        assert not isinstance(failed, McpFailure)
        assert failed["isError"] is True
        client.end()


def test_a_call_costs_little_of_our_own() -> None:
    with running("python:json") as url:
        client = speaker(url)
        assert not isinstance(client.call("weather", {"city": "Bern"}), McpFailure)
        began = time.process_time()
        for _ in range(50):
            assert not isinstance(client.call("weather", {"city": "Bern"}), McpFailure)
        assert (time.process_time() - began) * 1000 / 50 <= MOST_CPU_MS


def test_its_tools_are_actions_of_an_app_over_the_api_and_for_agents(data: Path) -> None:
    with running("python:streamable") as url:
        host = url.split("/")[2]
        served = Installation(data, PATCHBAY_ALLOW_HOSTS=host).start()
        try:
            source = mcp_servers.listed(served.service, url, Asker())
            written = app_imports.bring(served.service, source, "weather", Options(auth="none"))
            assert written.added == ("weather", "slow", "picture", "fails")
            token = served.token("alice")
            listed = served.api("GET", "actions?app=weather", token).json()["data"]
            assert [each["key"] for each in listed] == [
                "weather-fails", "weather-picture", "weather-slow", "weather-weather",
            ]  # fmt: skip
            body = {"id": "weather-weather", "external_user_id": "alice", "configured_props": {"city": "Bern"}}
            ran = served.api("POST", "actions/run", token, json=body).json()
            assert ran["ret"] == {"degrees": 5.0, "sunny": True}
            picture = {**body, "id": "weather-picture", "configured_props": {}, "stash_id": "NEW"}
            kept = served.api("POST", "actions/run", token, json=picture).json()
            assert kept["ret"]["files"] == [{"name": "image-1.png", "size": 10, "content_type": "image/png"}]
            (upload,) = kept["exports"]["$filestash_uploads"]
            assert upload["path"].endswith("image-1.png")
            _as_agents_see_it(served, token)
        finally:
            served.stop()


def _as_agents_see_it(served: Installation, token: str) -> None:
    call = {"name": "weather_weather", "arguments": {"city": "Bern"}}
    answer = requests.post(
        f"{served.url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        headers={
            "Authorization": f"Bearer {token}", "x-pd-app-slug": "weather",
            "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18",
        },
        timeout=60,
    )  # fmt: skip
    said = [item["text"] for item in answer.json()["result"]["content"]]
    assert said == ["Done: Weather", '{"degrees":5.0,"sunny":true}']
