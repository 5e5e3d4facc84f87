"""Deployed triggers over the API: every question names its user, and only keys are asked for as the project."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.dashboard.client.recorder import Recorder
from webapp.dashboard.client.triggers import TriggerClient
from webapp.errors import NotFound, Refused

T = "P/deployed-triggers/dc_1"
ME = {"external_user_id": "alice"}
Ask = Callable[[TriggerClient], object]


@pytest.mark.parametrize(
    ("ask", "method", "path", "call"),
    [
        (
            lambda client: client.deploy({"id": "tasks-new", "configured_props": {}}),
            "POST",
            "P/triggers/deploy",
            {"body": {"external_user_id": "alice", "id": "tasks-new", "configured_props": {}}, "timeout": 60.0},
        ),
        (lambda client: client.find("dc_1"), "GET", T, {"params": ME | {"extensions": True}}),
        (
            lambda client: client.update("dc_1", active=False),
            "PUT",
            T,
            {"params": ME | {"extensions": True}, "body": {"active": False}, "timeout": 60.0},
        ),
        (
            lambda client: client.delete("dc_1", ignore_hook_errors=True),
            "DELETE",
            T,
            {"params": ME | {"ignore_hook_errors": True}, "timeout": 60.0},
        ),
        (
            lambda client: client.set_urls("dc_1", ("https://a.example", "https://b.example")),
            "PUT",
            f"{T}/webhooks",
            {"params": ME, "body": {"webhook_urls": ["https://a.example", "https://b.example"]}},
        ),
        (
            lambda client: client.reset("dc_1", "wh_1"),
            "POST",
            f"{T}/webhooks/wh_1/reset_delivery_state",
            {"params": ME, "body": {}},
        ),
        (
            lambda client: client.resend("dc_1", "dl_1"),
            "POST",
            f"{T}/deliveries/dl_1/resend",
            {"params": ME, "body": {}},
        ),
    ],
)
def test_every_question_names_its_user(ask: Ask, method: str, path: str, call: dict[str, Any]) -> None:
    api = Recorder({})
    ask(TriggerClient(api, "alice"))
    assert api.calls == [("alice", method, path, call)]


def test_keys_are_asked_for_as_the_project_for_that_user() -> None:
    api = Recorder({"data": {"signing_key": "whsec_1"}}, {"data": {"signing_key": "whsec_2"}})
    client = TriggerClient(api, "alice")
    assert (client.signing_key("dc_1", "wh_1"), client.rotate_key("dc_1", "wh_1")) == ("whsec_1", "whsec_2")
    assert api.calls == [
        ("the project", "GET", f"{T}/webhooks/wh_1", {"params": ME}),
        ("the project", "POST", f"{T}/webhooks/wh_1/regenerate_signing_key", {"params": ME, "body": {}}),
    ]


def test_events_are_read_after_another_or_one_by_its_id() -> None:
    events = [{"id": "evt_2", "e": {"n": 2}, "ts": 5, "sum": "Two"}]
    api = Recorder({"data": events}, {"data": events})
    client = TriggerClient(api, "alice")
    read = client.events("dc_1", n=25, after="evt_3")
    assert [(event.id, event.body, event.at, event.summary) for event in read] == [("evt_2", {"n": 2}, 5, "Two")]
    assert client.events("dc_1", n=1, event_id="evt_2") == read
    assert [call["params"] for *_, call in api.calls] == [
        ME | {"n": 25, "after": "evt_3", "event_id": ""},
        ME | {"n": 1, "after": "", "event_id": "evt_2"},
    ]


@pytest.mark.parametrize(("answer", "count"), [({"count": 7}, 7), ({"count": "many"}, 0), ({}, 0)])
def test_sending_again_tells_how_many_that_is(answer: dict[str, Any], count: int) -> None:
    api = Recorder(answer)
    assert TriggerClient(api, "alice").resend_failed("dc_1", since=5, dry_run=True) == count
    body = {"since": 5, "status": "failed", "dry_run": True}
    assert api.calls == [("alice", "POST", f"{T}/deliveries/resend", {"params": ME, "body": body})]


def test_what_a_service_lacks_is_none_and_what_it_refuses_its_sentence() -> None:
    lacking = TriggerClient(Recorder(*[NotFound("Not here.")] * 3), "alice")
    assert lacking.workflows("dc_1") == []
    assert lacking.send_test("dc_1") is None
    assert lacking.day("dc_1") is None
    with pytest.raises(Refused, match=r"^Tasks did not take the webhook down\.$"):
        TriggerClient(Recorder(Refused("Tasks did not take the webhook down.")), "alice").delete("dc_1")
