"""Connecting an account in the middle of a call, and going on with it."""

import threading
from typing import Any

import pytest

from tests.service.mcp.conftest import ACCEPTS, LINKS, Agent, Events
from webapp.service.mcp import connecting, line

CALL = {"name": "list_options", "arguments": {"tool": "make_task", "prop": "project_id", "query": "project 19"}}
ACCEPTED = {"connect": {"action": "accept"}}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(connecting, "ROUND_S", 0.01)


def required(agent: Agent, **more: Any) -> Any:
    result = agent.ask("tools/call", {**CALL, **more})
    assert result["resultType"] == "input_required"
    return result


@pytest.mark.usefixtures("quick")
def test_a_modern_client_is_told_what_is_required_and_goes_on(world: Any) -> None:
    agent = world.agent(**LINKS)
    first = required(agent)
    question = first["inputRequests"]["connect"]
    assert question["method"] == "elicitation/create" and question["params"]["mode"] == "url"
    assert "app=tinykeys" in question["params"]["url"]
    again = required(agent, requestState=first["requestState"], inputResponses=ACCEPTED)
    assert "inputRequests" not in again  # the page is open, and nothing is connected yet
    world.account()
    done = agent.ask("tools/call", {**CALL, "requestState": again["requestState"]})
    assert done["resultType"] == "complete" and "Project 19" in done["content"][0]["text"]


@pytest.mark.usefixtures("quick")
def test_one_who_does_not_want_to_is_left_in_peace(world: Any) -> None:
    agent = world.agent(**LINKS)
    state = required(agent)["requestState"]
    for responses in ({"connect": {"action": "decline"}}, {"connect": {"action": "cancel"}}, {}):
        answer = agent.ask("tools/call", {**CALL, "requestState": state, "inputResponses": responses})
        assert answer["isError"] and answer["content"][0]["text"].startswith("The person does not want")


@pytest.mark.usefixtures("quick")
def test_it_is_waited_for_no_longer_than_clients_do(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "ROUNDS", 1)
    agent = world.agent(**LINKS)
    state = required(agent, requestState=required(agent)["requestState"], inputResponses=ACCEPTED)["requestState"]
    answer = agent.ask("tools/call", {**CALL, "requestState": state})
    assert answer["content"][0]["text"].startswith("The account is not connected yet.")


@pytest.mark.usefixtures("quick")
def test_a_state_is_of_one_call_of_one_person(world: Any) -> None:
    state = required(world.agent(**LINKS))["requestState"]
    world.account("bob")
    for agent, call in ((world.agent("bob", **LINKS), CALL), (world.agent(**LINKS), {**CALL, "name": "search_tools"})):
        answer = agent.ask("tools/call", {**call, "requestState": state, "inputResponses": ACCEPTED})
        assert answer["content"][0]["text"].startswith("This call cannot be gone on with")
    broken = world.agent(**LINKS).ask("tools/call", {**CALL, "requestState": "broken"})
    assert broken["isError"]


@pytest.mark.parametrize(("action", "told"), [("accept", "Project 19"), ("decline", "The person does not want")])
@pytest.mark.usefixtures("quick")
def test_an_older_client_is_asked_on_the_stream_of_its_call(world: Any, action: str, told: str) -> None:
    agent = world.agent().begin(**LINKS)
    messages = iter(Events(agent.post("tools/call", CALL, **ACCEPTS)))
    question = next(message for message in messages if message)
    assert question["params"]["mode"] == "url" and question["params"]["elicitationId"]
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}}
    assert agent.http.post("/mcp", json=reply, headers=agent.headers).status_code == 202
    connecting_it = threading.Timer(0.02, world.account)
    connecting_it.start()
    *_, last = list(messages)
    connecting_it.join()
    assert told in last["result"]["content"][0]["text"]


@pytest.mark.usefixtures("quick")
def test_one_who_opens_no_links_or_takes_no_stream_gets_the_link_as_text(world: Any) -> None:
    for agent in (world.agent().begin(), world.agent().begin(**LINKS), world.agent()):
        send = agent.post if "mcp-session-id" in agent.headers else agent.send
        text = send("tools/call", CALL).get_json()["result"]["content"][0]["text"]
        assert text.startswith("No Tiny Keys account is connected.")
