"""npm's ``@modelcontextprotocol/sdk`` client, unmodified."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.installation import Installation
from tests.peers.agents import Person, connect, headers, installation
from webapp.kit.cursors import Window
from webapp.service.domain.components import runs

pytestmark = pytest.mark.peer
HERE = Path(__file__).parent
SDK = HERE.parents[1] / "instance" / "node" / "node_modules" / "@modelcontextprotocol" / "sdk" / "dist" / "esm"


class NodeClient:
    """The client in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def hear(self) -> Any:
        """What it tells next."""
        assert self._process.stdout and self._process.stderr
        line = self._process.stdout.readline()
        assert line, self._process.stderr.read()
        return json.loads(line)

    def say(self, **order: Any) -> None:
        """Tell it what to do."""
        assert self._process.stdin
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()

    def call(self, name: str, values: dict[str, Any], **more: Any) -> Any:
        """Let it call a tool."""
        self.say(do="call", name=name, values=values, **more)
        return self.hear()


@contextmanager
def client(
    served: Installation, way: str, more: dict[str, str] | None = None, *, links: bool = False
) -> Iterator[NodeClient]:
    with started(served, headers(served, way, "alice") | (more or {}), links=links) as opened:
        assert opened.hear()["server"]["name"] == "patchbay"
        yield opened


@contextmanager
def started(served: Installation, sent: dict[str, str] | None, *, links: bool = False) -> Iterator[NodeClient]:
    """The client, which sends these headers; without any it signs its person in."""
    node = shutil.which("node") or ""
    if not node or not SDK.is_dir():
        reason = "the SDK is not installed; `python -m webapp.frontend --tests` installs what the tests run against"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    command = [node, str(HERE / "mcp_client.mjs"), str(SDK), f"{served.url}/mcp", json.dumps(sent), json.dumps(links)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield NodeClient(process)
        finally:
            process.kill()


@pytest.fixture
def served(data: Path) -> Any:
    with installation(data) as running:
        yield running


@pytest.mark.parametrize("way", ["token", "client", "person"])
def test_it_lists_calls_and_reads_errors(served: Installation, way: str) -> None:
    with client(served, way, {"x-pd-app-slug": "sandbox,trello,linear"}) as agent:
        agent.say(do="list")
        first = agent.hear()
        agent.say(do="list", cursor=first["nextCursor"])
        rest = agent.hear()
        assert len(first["tools"]) == 25 and rest["tools"] and "nextCursor" not in rest
    with client(served, way) as agent:
        assert agent.call("slow", {"seconds": 0})["content"][0]["text"] == "awake"
        assert agent.call("slow", {"seconds": "many"})["isError"]
        assert agent.call("nothing", {})["error"]["code"] == -32602


def test_it_acts_for_the_person_who_signed_in_also_after_its_token_ended(served: Installation) -> None:
    person = Person(served)
    with started(served, None) as agent:
        agent.say(**person.agree(agent.hear()["opens"]))
        assert agent.hear()["server"]["name"] == "patchbay"
        assert agent.call("slow", {"seconds": 0})["content"][0]["text"] == "awake"
        with served.service.store.write() as tx:
            tx.run("UPDATE agent_tokens SET expires_at = 0 WHERE kind = 'access'")
        assert agent.call("slow", {"seconds": 0})["content"][0]["text"] == "awake"
    run = _last_run(served)
    assert (run.external_id, run.agent) == (person.id, "Desk Helper")


def test_an_account_is_connected_in_the_middle_of_a_call(served: Installation) -> None:
    with client(served, "token", links=True) as agent:
        question = agent.call("who", {})["asks"]
        assert question["mode"] == "url" and question["url"].startswith(served.url)
        connect(served, "alice")
        agent.say(action="accept")
        assert agent.hear()["content"][0]["text"] == "somebody"


def test_progress_is_reported_and_a_cancelled_call_ends(served: Installation) -> None:
    with client(served, "token") as agent:
        done = agent.call("slow", {"seconds": 3})
        assert done["content"][0]["text"] == "awake" and len(done["progress"]) > 1
        assert "error" in agent.call("slow", {"seconds": 25}, cancelAfter=1_500)
        deadline = time.monotonic() + 15
        while (run := _last_run(served)).status != "failed":
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert "It was cancelled by the caller." in str(run.error)


def _last_run(served: Installation) -> runs.Run:
    return next(iter(runs.page(served.service.store, served.scene, runs.Filter(), Window()).items))
