"""A conversation with an agent in a real browser: let in, connected in the middle of it, asked for a yes, and ended."""

import json
import re
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from tests.browser.person import Person
from tests.fakes.served import Served, served

pytestmark = [pytest.mark.browser, pytest.mark.whole_chromium]

CALLBACK = "https://helper.example/callback"
TASK = {"project_id": "prj_001", "title": "Call Nadia"}
LINK = re.compile(r"https?://\S+/_static/connect\.html\S+")


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    """``patchbay serve``, started for the first time."""
    with served(tmp_path / "data") as product:
        yield product


class Agent:
    """An agent that knows the installation's address and nothing else. It leads people ``further`` at the end."""

    def __init__(self, url: str, further: str) -> None:
        self.url, self.further, self.token, self.session = url, further, "", ""
        self._requests: list[str] = []
        refused = requests.post(f"{url}/mcp", json={}, timeout=10)
        assert refused.status_code == 401
        named = re.findall(r'resource_metadata="([^"]+)"', refused.headers["WWW-Authenticate"])[0]
        issuer = requests.get(named, timeout=10).json()["authorization_servers"][0]
        parts = urlsplit(issuer)
        known = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}"
        self.server = requests.get(known, timeout=10).json()

    def sign_in(self, page: Any) -> None:
        """Register, and send the person to the page that asks them; ``page`` ends where the agent is told."""
        body = {"client_name": "Desk Helper", "redirect_uris": [CALLBACK]}
        client_id = requests.post(self.server["registration_endpoint"], json=body, timeout=10).json()["client_id"]
        verifier = secrets.token_urlsafe(40)
        query = {
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "response_type": "code",
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
            "state": "its-state",
            "resource": f"{self.url}/mcp",
        }
        leading_on = {"status": 302, "headers": {"Location": self.further}}  # as many agents do once they are told
        page.route("https://helper.example/**", lambda route: route.fulfill(**leading_on))
        page.on("request", lambda request: self._requests.append(request.url))
        page.goto(f"{self.server['authorization_endpoint']}?{urlencode(query)}")
        self._told = (client_id, verifier)

    def told(self, page: Any) -> None:
        """What the agent does once it is told."""
        page.wait_for_url(self.further)
        address = next(url for url in self._requests if url.startswith(CALLBACK))
        facts = parse_qs(urlsplit(address).query)
        assert facts["state"] == ["its-state"] and facts["iss"] == [self.server["issuer"]]
        client_id, verifier = self._told
        form = {"grant_type": "authorization_code", "client_id": client_id, "code": facts["code"][0]}
        form |= {"redirect_uri": CALLBACK, "code_verifier": verifier}
        self.token = requests.post(self.server["token_endpoint"], data=form, timeout=10).json()["access_token"]
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        self.session = self.send("initialize", hello).headers["mcp-session-id"]

    def send(self, method: str, params: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", "x-pd-app-slug": "sandbox"}
        headers |= {"Accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
        if self.session:
            headers["mcp-session-id"] = self.session
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return requests.post(f"{self.url}/mcp", json=body, headers=headers, timeout=60)

    def call(self, name: str, /, **arguments: Any) -> str:
        """What a tool says."""
        answer = self.send("tools/call", {"name": name, "arguments": arguments})
        assert answer.status_code == 200, answer.text
        message = answer.text.rpartition("data: ")[2]  # the last one of a stream, or the only one
        return "\n".join(part["text"] for part in json.loads(message)["result"]["content"] if part["type"] == "text")


def test_a_conversation_from_letting_the_agent_in_to_ending_it(contexts: Any, fresh: Served, axe: Any) -> None:
    page = contexts().new_page()
    person, agent = Person(page, fresh), Agent(fresh.url, f"{fresh.sandbox_url}/keys")
    person.sign_up(fresh.start_url)

    agent.sign_in(page)
    person.heading("Allow “Desk Helper” to act for you?")
    page.get_by_text("helper.example").wait_for()
    assert axe(page) == []
    person.button("Allow").first.click()
    agent.told(page)

    link = LINK.search(agent.call("sandbox_create_task", **TASK))
    assert link is not None
    page.goto(link[0])
    page.get_by_role("link", name="Stay in this tab instead").locator("visible=true").first.click()
    person.decide(page, "Allow")
    person.heading("Connected")

    begun = agent.call("begin_configuration", tool="sandbox_create_task", arguments=TASK)
    dynamic = re.search(r"dyp_\w+", begun)
    assert dynamic is not None, begun
    made = agent.call("sandbox_create_task", **TASK, dynamic_props_id=dynamic[0])
    assert "Call Nadia" in made, made
    read_back = agent.call("sandbox_find_tasks", query="Call Nadia")
    task = re.search(r"tsk_\w+", read_back)
    assert "Call Nadia" in read_back and task is not None

    page.goto(f"{fresh.url}/agents")
    with ThreadPoolExecutor(1) as meanwhile:
        deleted = meanwhile.submit(agent.call, "sandbox_delete_task", project_id="prj_001", task_id=task[0])
        page.locator("#waiting").get_by_text("Delete task").wait_for()  # the open page hears of it
        page.get_by_role("link", name=re.compile("Sandbox Tasks")).click()
        page.get_by_role("form", name="Find tasks").get_by_role("button", name="On", pressed=True).wait_for()
        assert axe(page) == []
        page.emulate_media(color_scheme="dark")
        assert axe(page, colours=True) == []
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        person.button("Allow once").click()
        page.get_by_text("You approved it.").wait_for()
        assert "yes" not in deleted.result(30)
    assert task[0] not in agent.call("sandbox_find_tasks", query="Call Nadia")

    page.goto(f"{fresh.url}/agents?app=sandbox")
    page.get_by_role("form", name="Find tasks").get_by_role("button", name="Off").click()
    page.get_by_role("form", name="Find tasks").get_by_role("button", name="Off", pressed=True).wait_for()
    hidden = agent.send("tools/call", {"name": "sandbox_find_tasks", "arguments": {}})
    absent = agent.send("tools/call", {"name": "sandbox_none_such", "arguments": {}})
    assert hidden.content == absent.content.replace(b"sandbox_none_such", b"sandbox_find_tasks")

    page.locator("#agents-title").wait_for()
    person.button("End access").click()
    page.get_by_text("Its access is revoked.").wait_for()
    assert agent.send("tools/list", {}).status_code == 401
