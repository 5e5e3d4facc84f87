"""Deployed triggers."""

from typing import Any

import pytest

from webapp.dashboard.client.models.triggers import Trigger


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
