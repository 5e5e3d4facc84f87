"""An agent's calls at two web processes of the product: whichever gets the word ends a call of the other."""

import json
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.fakes.served import served
from tests.peers.agents import SLOW
from webapp.kit.clock import now
from webapp.kit.cursors import Window
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.components import runs
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.settings import Settings

pytestmark = pytest.mark.peer
KEY = "an-instance-key-for-tests-0123456789"
CALLS = 4


def test_a_call_is_cancelled_by_a_request_to_any_process(data: Path) -> None:
    (data / "components" / "slow").mkdir(parents=True)
    (data / "components" / "slow" / "1.0.0.py").write_text(SLOW)
    service = open_service(Settings.from_env({"PATCHBAY_SECRET_KEY": KEY}, data=data), now)
    scene = Scene(projects.create(service, name="Acme").id, "development")
    token = connect_tokens.create(service, scene, connect_tokens.TokenRequest("alice"), client_id=None)["token"]
    with served(data, PATCHBAY_SECRET_KEY=KEY, PATCHBAY_WEB="2") as product:
        url, headers = f"{product.url}/mcp", {"Authorization": f"Bearer {token}"}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        begun = send(url, headers, {"id": 0, "method": "initialize", "params": hello})
        headers |= {"mcp-session-id": begun.headers["mcp-session-id"], "Accept": "application/json, text/event-stream"}
        call = {"method": "tools/call", "params": {"name": "slow", "arguments": {"seconds": 25}}}
        streams = [send(url, headers, {"id": number, **call}, stream=True) for number in range(1, CALLS + 1)]
        for number, stream in enumerate(streams, 1):
            assert stream.headers["Content-Type"].startswith("text/event-stream")
            gone = {"method": "notifications/cancelled", "params": {"requestId": number}}
            assert send(url, {**headers, "Connection": "close"}, gone).status_code == 202
        last = [json.loads(stream.content.rpartition(b"data: ")[2]) for stream in streams]
    assert [message["error"]["message"] for message in last] == ["The call was cancelled."] * CALLS
    ended = runs.page(service.store, scene, runs.Filter(), Window()).items
    assert len(ended) == CALLS and all(run.took_ms < 20_000 and run.error for run in ended)
    close_service(service)


def send(url: str, headers: dict[str, str], message: dict[str, Any], *, stream: bool = False) -> requests.Response:
    body = {"jsonrpc": "2.0", **message}
    return requests.post(url, json=body, headers=headers, timeout=60, stream=stream)
