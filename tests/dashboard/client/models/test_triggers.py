"""Deployed triggers and where they deliver to."""

from typing import Any

import pytest

from webapp.dashboard.client.models.triggers import Endpoint, Trigger, Workflows


@pytest.mark.parametrize(
    ("data", "state"),
    [
        ({}, "active"),
        ({"active": False}, "paused"),
        ({"waits": "account"}, "waits"),
        ({"switched_off": "too many failures", "active": False}, "off"),
    ],
)
def test_state(data: Any, state: str) -> None:
    assert Trigger.model_validate(data).state == state


def test_the_emitter_follows_from_the_id_and_the_schedule_from_the_fields() -> None:
    timer = Trigger.model_validate({"id": "ti_1", "interval_seconds": 900.0})
    assert (timer.emitter, timer.schedule, timer.name) == ("timer", {"intervalSeconds": 900}, "ti_1")
    assert Trigger.model_validate({"cron": "0 9 * * *"}).schedule == {"cron": "0 9 * * *", "timezone": "UTC"}
    assert Trigger.model_validate({"id": "dc_1"}).emitter == "source"


def test_an_endpoint_that_failed_lately_is_in_penalty_at_once() -> None:
    lately = Endpoint.model_validate({"delivery_state": {"state": "happy", "since": 5, "consecutive_failures": 1}})
    assert (lately.state, lately.failing, lately.since) == ("penalty", True, None)
    penalty = Endpoint.model_validate({"url": "https://a.test/x", "delivery_state": {"state": "penalty", "since": 5}})
    assert (penalty.since, penalty.host) == (5_000, "a.test")
    assert Endpoint.model_validate({"active": False}).state == "deactivated"
    assert not Endpoint.model_validate({}).failing


def test_workflows_are_the_ids_with_what_is_told_of_them() -> None:
    answer = {"workflow_ids": ["wf_1", "wf_2"], "workflows": [{"id": "wf_2", "name": "Two"}]}
    assert [(item.id, item.name) for item in Workflows.model_validate(answer).known()] == [
        ("wf_1", ""),
        ("wf_2", "Two"),
    ]
