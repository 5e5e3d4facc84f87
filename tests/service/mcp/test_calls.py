"""Calls of tools: actions of the catalog and our own tools, what agents read where a call fails, what waits for the
person's yes, and connecting an account in the middle of a call.
"""

import base64
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from tests.service.mcp.conftest import ACCEPTS, LINKS, Agent, Events
from webapp import audit
from webapp.errors import Invalid
from webapp.kit.clock import MINUTE
from webapp.kit.cursors import Window
from webapp.service.api.base.call import ANYONE
from webapp.service.domain.agents import approvals, permissions, sessions
from webapp.service.domain.agents.sessions import Entry
from webapp.service.domain.components import file_stash, runs
from webapp.service.domain.projects import external_users
from webapp.service.mcp import calls, event_streams
from webapp.service.mcp.authentication import Visitor
from webapp.service.mcp.calls import ToolCall
from webapp.service.mcp.clients import Client
from webapp.service.mcp.event_streams import Line, Places
from webapp.service.mcp.protocol import Message

CALL = {"name": "list_options", "arguments": {"tool": "make_task", "prop": "project_id", "query": "project 19"}}
ACCEPTED = {"connect": {"action": "accept"}}


@pytest.fixture
def call(world: Any) -> ToolCall:
    client, message = Client("2025-11-25"), Message(1, "tools/call", {})
    line = Line(world.service, client, message, Places(1), streams=False)
    session = sessions.enter(world.service, world.scene, "alice", Entry("client", "c"), "Robot")
    return ToolCall(world.service, Visitor(ANYONE, world.scene, "alice"), client, session, line, "x", {}, {})


def test_what_is_there_is_read(call: ToolCall) -> None:
    filled = replace(call, arguments={"a": "text", "n": 3, "o": {"b": 1}})
    assert (filled.text("a"), filled.number("n", 0, most=9), filled.values("o")) == ("text", 3, {"b": 1})
    assert (call.number("n", 5, most=9), call.values("o")) == (5, {})


@pytest.mark.parametrize("arguments", [{}, {"a": 5, "n": True, "o": []}, {"a": " ", "n": 10, "o": "x"}, {"n": "1"}])
def test_what_is_wrong_is_named(call: ToolCall, arguments: dict[str, Any]) -> None:
    wrong = replace(call, arguments=arguments)
    with pytest.raises(Invalid, match=r"^a is "):
        wrong.text("a")
    if arguments:
        with pytest.raises(Invalid, match=r"^n is not valid"):
            wrong.number("n", 0, most=9)
    if "o" in arguments:
        with pytest.raises(Invalid, match=r"^o is not valid"):
            wrong.values("o")


def test_an_action_does_its_work_and_is_written_down_with_the_name_of_the_agent(world: Any) -> None:
    world.account()
    agent = world.agent()
    configured = agent.call("begin_configuration", tool="make_task", arguments={"project_id": "p1"})
    further = configured["structuredContent"]
    assert {"colour", "size"} <= further["inputSchema"]["properties"].keys()
    values = {"title": "Tidy up", "project_id": "p1", "colour": "red", "dynamic_props_id": further["dynamic_props_id"]}
    done = agent.call("make_task", **values)
    assert "isError" not in done and done["content"][0]["text"].startswith("Made Tidy up")
    assert '"title":"Tidy up"' in done["content"][1]["text"]
    (run,) = runs.page(world.service.store, world.scene, runs.Filter(), Window()).items
    assert (run.component_key, run.agent, run.ok, run.to_json()["agent"]) == ("~/make-task", "Robot", True, "Robot")
    (entry,) = audit.page(world.service.store, audit.Filter(noun="run"), Window()).items
    assert (entry.actor_kind, entry.actor, entry.subject_id) == ("user", "alice", run.id)
    assert entry.sentence == "Robot ran ~/make-task."


def test_further_arguments_that_are_missing_are_asked_for(world: Any) -> None:
    world.account()
    told = world.agent().text("make_task", title="A", project_id="p1")
    assert told.startswith("Send these arguments to begin_configuration first")


def test_what_goes_wrong_is_an_answer(world: Any) -> None:
    agent = world.agent()
    assert agent.call("fail", token="canary-token-value")["isError"]
    assert "canary" not in agent.text("fail", token="canary-token-value")
    assert agent.text("every_type", number=9, flag="yes") == (
        "These values are not valid: number, flag; see the details. configured_props.number: It must be at most 5. "
        "configured_props.flag: It must be true or false, not text."
    )
    assert "typo" in agent.text("every_type", typo=1)
    assert agent.text("list_options", tool="make_task") == "prop is missing; send it as text."


def test_a_tool_is_run_by_its_name(world: Any) -> None:
    told = world.agent().text("run_tool", tool="every_type", arguments={"number": 3})
    assert '"number":3' in told


@pytest.fixture
def asked(world: Any) -> Any:
    """An action that alice is asked about."""
    component = world.service.catalog.component("~/every-type")
    permissions.set_action(world.service, world.scene, "alice", component, "ask")
    return world


def decide(world: Any, *, yes: bool) -> None:
    user = external_users.find(world.service.store, world.scene, "alice")
    assert user is not None
    (approval,) = approvals.recent(world.service, world.scene, "alice")
    approvals.decide(world.service, user, approval.id, yes=yes)


def test_it_waits_runs_once_after_a_yes_and_waits_again(asked: Any) -> None:
    agent = asked.agent()
    assert agent.tools()["search_tools"] and "The person is asked" in agent.text("search_tools", query="every type")
    for _ in range(2):  # it is asked for once
        told = agent.text("every_type", number=3)
        assert told.startswith("This waits for the person's yes") and "/agents" in told
    decide(asked, yes=True)
    assert '"number":3' in agent.text("every_type", number=3)
    assert agent.text("every_type", number=3).startswith("This waits")
    assert world_of("bob", asked).startswith("{")


def world_of(user: str, world: Any) -> str:
    return str(world.agent(user).text("every_type", number=3))


def test_a_no_stands_and_silence_ends_it(asked: Any) -> None:
    agent = asked.agent()
    agent.text("every_type", number=3)
    decide(asked, yes=False)
    assert agent.text("every_type", number=3).startswith("The person said no.")
    assert agent.text("every_type", number=4).startswith("This waits")
    asked.clock.advance(11 * MINUTE)
    assert agent.text("every_type", number=4).startswith("This waits")


def test_files_do_not_make_it_another_call(world: Any) -> None:
    component = world.service.catalog.component("~/writes")
    permissions.set_action(world.service, world.scene, "alice", component, "ask")
    agent = world.agent()
    agent.text("writes", names=["a.txt"])
    decide(world, yes=True)
    assert "get_url" in agent.text("writes", names=["a.txt"])


def test_on_a_stream_the_answer_is_waited_for(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(event_streams, "FIRST_S", 0.01)
    messages = iter(asked.agent().stream("tools/call", {"name": "every_type", "arguments": {"number": 3}}))
    assert next(messages) is None
    while not approvals.recent(asked.service, asked.scene, "alice"):
        assert next(messages) is None  # the call has not come so far
    decide(asked, yes=True)
    *_, last = list(messages)
    assert '"number":3' in last["result"]["content"][0]["text"]


@pytest.mark.parametrize("cancelled", [False, True])
def test_the_answer_is_waited_for_no_longer_than_the_client_waits(
    asked: Any, call: ToolCall, monkeypatch: pytest.MonkeyPatch, cancelled: bool
) -> None:
    monkeypatch.setattr(event_streams, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(calls, "WAIT_S", 60 if cancelled else 0.01)
    line = Line(asked.service, call.client, Message(1, "tools/call", {}), Places(1), streams=True)
    if cancelled:
        line.cancellation.request()
    began = time.monotonic()
    result = calls.answer(replace(call, line=line, name="every_type", arguments={"number": 3}))
    assert time.monotonic() - began < 30, "it waits although nobody does any more"
    assert result["isError"] and result["content"][0]["text"].startswith("This waits for the person's yes")
    assert line.progress == "Waiting for the person's yes."
    (approval,) = approvals.recent(asked.service, asked.scene, "alice")
    assert approval.state == "waiting"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "LOOK_EVERY_S", 0.005)
    monkeypatch.setattr(calls, "ROUND_S", 0.01)


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
    monkeypatch.setattr(calls, "ROUNDS", 1)
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
        assert answer["content"][0]["text"].startswith("This call cannot be continued.")
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


def test_the_values_of_an_argument_page_by_page(world: Any) -> None:
    world.account()
    agent = world.agent()
    first = agent.call("list_options", tool="make_task", prop="project_id")["structuredContent"]
    assert first["options"][0] == {"label": "Project 0", "value": "p0"} and first["context"]["start"] == 50
    more = {"page": 1, "context": first["context"]}
    second = agent.call("list_options", tool="make_task", prop="project_id", **more)["structuredContent"]
    assert second["options"][0]["value"] == "p50"
    fixed = agent.call("list_options", tool="every_type", prop="text")["structuredContent"]
    assert [option["value"] for option in fixed["options"]] == ["a", "b"]


def test_what_cannot_be_looked_up_is_reported(world: Any) -> None:
    world.account()
    agent = world.agent()
    assert "no prop of that name" in agent.text("list_options", tool="every_type", prop="nothing")
    assert agent.text("list_options", tool="make_task", prop="project_id", page=-1).startswith("page is not valid")
    assert (
        agent.send("tools/call", {"name": "list_options", "arguments": {"tool": "x", "prop": "y"}}).status_code == 400
    )
    failed = agent.call("begin_configuration", tool="make_task", arguments={"project_id": "p13"})
    assert failed["isError"] and failed["content"][0]["text"] == "Project 13 cannot be read."


def test_without_an_account_both_answer_with_a_link(world: Any) -> None:
    agent = world.agent()
    for told in (
        agent.text("list_options", tool="make_task", prop="project_id"),
        agent.text("begin_configuration", tool="make_task"),
    ):
        assert "connect.html?token=" in told


def search(agent: Any, query: str, **more: Any) -> list[str]:
    found = agent.call("search_tools", query=query, **more).get("structuredContent", {"tools": []})
    return [tool["name"] for tool in found["tools"]]


def test_tools_are_found_by_words_the_one_with_the_name_first(world: Any) -> None:
    agent = world.agent()
    assert search(agent, "make task")[0] == "make_task"
    assert search(agent, "make a task right now, please") == search(agent, "make task")
    assert len(search(agent, "task", limit=1)) == 1
    assert search(agent, "nonsense") == []
    assert search(world.agent(apps="tinyoauth"), "make task") == []


def test_what_is_asked_wrongly_is_reported(world: Any) -> None:
    agent = world.agent()
    assert agent.text("search_tools", query=" ").startswith("query is missing")
    for limit in (0, 99):
        assert agent.text("search_tools", query="a", limit=limit).endswith("a whole number from 1 to 20.")


def test_tools_of_connected_apps_come_first(world: Any) -> None:
    agent, query = world.agent(), "create issue"
    assert search(agent, query, limit=20).index("linear_create_issue") > 0
    world.plant("alice", app="linear", values={})
    assert search(agent, query, limit=20)[0] == "linear_create_issue"


def test_a_sentence_of_ten_thousand_words_is_searched_for_by_its_beginning(world: Any) -> None:
    assert search(world.agent(), "make task " + "qq " * 10_000)[0] == "make_task"
    assert search(world.agent(), "qq " * 10_000) == []


def data_url(content: bytes) -> str:
    return f"data:application/pdf;name=report.pdf;base64,{base64.b64encode(content).decode()}"


def sent(world: Any, address: str, content: bytes) -> str:
    """The id of the file, once its content came to the address that an agent was given."""
    announced = file_stash.announced(world.service, address.rpartition("/")[2])
    facts = (announced.scene, announced.external_id, announced.name)
    return file_stash.upload(world.service, *facts, content, file_id=announced.id).id


def announced_by(agent: Agent, name: str) -> dict[str, Any]:
    """What the agent is told about a file that it is going to upload."""
    answer = agent.ask("tools/call", {"name": "upload_file", "arguments": {"name": name}})
    return dict(answer["structuredContent"])


def test_an_agent_hands_a_file_of_nine_megabytes(world: Any) -> None:
    agent, content = world.agent(), bytes(9_000_000)
    assert '"size":9000000' in agent.text("measures", file=data_url(content))
    announced = announced_by(agent, "../report.pdf")
    assert announced["name"] == "report.pdf"
    assert sent(world, announced["upload_url"], content) == announced["file"]
    assert '"size":9000000' in agent.text("measures", file=announced["file"])


def test_what_is_no_file_is_told_to_the_agent(world: Any) -> None:
    agent = world.agent()
    later = announced_by(agent, "a.txt")["file"]
    bobs = sent(world, announced_by(world.agent("bob"), "a.txt")["upload_url"], b"x")
    for value, said in (
        (later, "There is no such file"), (bobs, "There is no such file"),
        ("data:text/plain;base64,", "The file is empty"), ("data:nothing", "It is not a data URL"),
    ):  # fmt: skip
        assert said in agent.text("measures", file=value)
    assert "larger than 10 MiB" in agent.text("measures", file=data_url(bytes(11_000_000)))
    beyond = agent.send("tools/call", {"name": "measures", "arguments": {"file": data_url(bytes(12_000_000))}})
    assert (beyond.status_code, beyond.json["error"]["message"]) == (413, "The body is larger than 10 MiB.")
    assert len(world.service.store.all("SELECT id FROM stashed_files")) == 1, "nothing but bob's file"


def test_a_person_is_asked_about_a_file_in_short(world: Any) -> None:
    component = world.service.catalog.component("~/measures")
    permissions.set_action(world.service, world.scene, "alice", component, "ask")
    agent = world.agent()
    agent.text("measures", file=data_url(b"%PDF"))
    (waiting,) = approvals.recent(world.service, world.scene, "alice")
    shown = approvals.inputs(world.service, waiting)["configured_props"]["file"]
    assert shown.startswith("report.pdf (4 bytes, SHA-256 ")
    assert world.service.store.all("SELECT id FROM stashed_files") == []
    decide(world, yes=True)
    assert '"size":4' in agent.text("measures", file=data_url(b"%PDF"))
