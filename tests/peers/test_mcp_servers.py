"""MCP servers that nobody here wrote, as apps: npm's ``server-everything``, and one each on PyPI's ``mcp`` and
``fastmcp``.

The last needs many packages, so it runs in an environment of its own, whose Python ``FASTMCP_PYTHON`` names.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from tests.fakes.browser import Browser
from tests.fakes.installation import Installation
from tests.fakes.ports import free_port
from tests.fakes.served import START_S
from webapp.kit.clock import SECOND, FakeClock, now
from webapp.service.catalog.importing import documents, mcp_tools
from webapp.service.catalog.importing.plans import plan
from webapp.service.catalog.importing.records import Options
from webapp.service.domain.accounts import accounts, credentials
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.instance import mcp_servers
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
FASTMCP = "FASTMCP_PYTHON"
FASTMCP_SERVER = """
import sys
from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from pydantic import BaseModel

server, port, way = FastMCP("weather"), int(sys.argv[1]), sys.argv[2]

class Weather(BaseModel):
    degrees: float
    sunny: bool

@server.tool(annotations={"readOnlyHint": True})
def weather(city: str, days: int = 1) -> Weather:
    return Weather(degrees=len(city) + days, sunny=True)

@server.tool
async def slow(steps: int, ctx: Context) -> str:
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, "Thinking")
    return "done"

@server.tool
def picture() -> Image:
    return Image(data=b"not really", format="png")

@server.tool
def fails() -> str:
    raise ValueError("No weather today.")

kinds = {"json": {"json_response": True}, "stateless": {"stateless_http": True}}
transport = "sse" if way == "sse" else "http"
server.run(transport, host="127.0.0.1", port=port, show_banner=False, **kinds.get(way, {}))
"""
MOST_CPU_MS = 6.0


@contextmanager
def running(manner: str) -> Iterator[str]:
    """The address of a server: one of npm for a manner of NODE, else one of PyPI."""
    kind, _, way = manner.partition(":")
    port = free_port()
    if kind == "node":
        command, env = [_node(), str(EVERYTHING), way], {**os.environ, "PORT": str(port)}
    elif kind == "fastmcp":
        command, env = [_fastmcp(), "-c", FASTMCP_SERVER, str(port), way], dict(os.environ)
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
    latest = time.monotonic() + START_S
    while time.monotonic() < latest:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            requests.options(url, timeout=5)
            return
        except requests.ConnectionError:
            time.sleep(0.1)
    pytest.fail("the server does not start")


def _node() -> str:
    node = shutil.which("node")
    if node is None or not EVERYTHING.is_file():
        missing = "server-everything is not installed" if node else "there is no node"
        _lack(f"{missing}; `python -m webapp.frontend --tests` installs what the tests run against")
    return node


def _fastmcp() -> str:
    python = os.environ.get(FASTMCP, "")
    if shutil.which(python) is None:
        _lack(f"{FASTMCP} does not name the Python of an environment with fastmcp; `make peer` makes one")
    return python


def _lack(reason: str) -> NoReturn:
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
@pytest.mark.parametrize("kind", ["python", "fastmcp"])
def test_a_server_of_pypi_is_listed_and_called(kind: str, way: str) -> None:
    notes = list[str]()
    with running(f"{kind}:{way}") as url:
        client = speaker(url, notes)
        tools = client.tools()
        assert isinstance(tools, ToolList)
        assert [tool["name"] for tool in tools.tools] == ["weather", "slow", "picture", "fails"]
        result = client.call("weather", {"city": "Bern"})
        assert not isinstance(result, McpFailure)
        assert result["structuredContent"] == {"degrees": 5.0, "sunny": True}
        assert not isinstance(client.call("slow", {"steps": 2}), McpFailure)
        if way != "json":
            assert [note.replace(".0", "") for note in notes] == ["Thinking (1 of 2)", "Thinking (2 of 2)"]
        failed = client.call("fails", {})
        assert not isinstance(failed, McpFailure)
        assert failed["isError"] is True
        client.end()
        content = mcp_tools.listing(url, {"name": "weather"}, tools.tools)
        planned = plan(documents.read(content), "weather", Options(auth="none"))
        assert (len(planned.actions), planned.left) == (4, [])


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
            written = mcp_servers.add(served.service, url, "weather", Asker(), Options())
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
            as_agents_see_it(served, token)
        finally:
            served.stop()


def as_agents_see_it(served: Installation, token: str) -> None:
    """An agent with ``token`` runs the action, and gets both forms of its result."""
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


def test_people_sign_in_at_a_server_with_nothing_to_set_up(data: Path) -> None:
    """A client registers itself, the Connect Link signs in with PKCE for this resource, tools are listed with the
    account, a token that expired is renewed, and access is revoked."""
    with running("python:oauth") as url:
        host, clock = url.split("/")[2], FakeClock(now())
        served = Installation(data, clock=clock, PATCHBAY_ALLOW_HOSTS=host).start()
        browser = Browser(served.url)
        try:
            added = mcp_servers.add(served.service, url, "weather", Asker(), Options())
            assert (added.added, added.plan.app["auth_type"]) == ((), "oauth")
            account = _connected(served, browser)
            assert account.healthy
            asker = Asker(account_id=account.id, scene=served.scene)
            listed = mcp_servers.add(served.service, url, "weather", asker, Options())
            assert listed.added == ("weather", "slow", "picture", "fails")
            assert _weather(served, account) == {"degrees": 5.0, "sunny": True}
            clock.advance(50 * SECOND)
            before = _token(served, account)
            assert _weather(served, account) == {"degrees": 5.0, "sunny": True}
            assert _token(served, account) != before
            served.restart()
            assert _weather(served, account) == {"degrees": 5.0, "sunny": True}
            gone = served.api("DELETE", f"accounts/{account.id}", served.server_token())
            assert gone.status_code == 204
        finally:
            browser.close()
            served.stop()


def _connected(served: Installation, browser: Browser) -> Account:
    page = browser.visit(served.link(served.token(), "weather"))
    started = browser.get(page.start_link())
    asked = parse_qs(urlsplit(started.location).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["resource"][0].endswith("/mcp")
    ended = browser.visit(browser.follow(started, until=served.url).location)
    assert ended.status == 200, ended.text
    (account,) = served.accounts()
    return account


def _token(served: Installation, account: Account) -> str:
    stored = accounts.get(served.service.store, served.scene, account.id)
    return credentials.read(served.service, stored)["oauth_access_token"]


def _weather(served: Installation, account: Account) -> Any:
    props = {"account": {"authProvisionId": account.id}, "city": "Bern"}
    body = {"id": "weather-weather", "external_user_id": "alice", "configured_props": props}
    ran = served.api("POST", "actions/run", served.token("alice"), json=body).json()
    assert ran["ret"] is not None, ran
    return ran["ret"]
