"""Zoom's triggers that are told by events, written from https://developers.zoom.us/docs/api/meetings/events/."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness


@pytest.mark.parametrize("name", ["meeting-started", "meeting-ended"])
def test_a_meeting_is_emitted_with_its_topic(desk_of: Callable[..., AppHarness], name: str) -> None:
    meeting = {
        "id": "1234567890",
        "uuid": "4444AAAiAAAAAiAiAiiAii==",
        "host_id": "x1yCzABCDEfg23HiJKl4mN",
        "topic": "Plan",
    }
    payload = {"account_id": "AAAAAABBBB", "object": meeting}
    event: dict[str, Any] = {"event": name.replace("-", "."), "event_ts": 1626230691572, "payload": payload}
    harness = desk_of("zoom", oauth_access_token="token").trigger(name)
    (emitted,) = harness.receive(event, {}).events
    assert (emitted.event, emitted.summary, emitted.ts) == (event, "Plan", 1626230691572)
    assert emitted.id == "4444AAAiAAAAAiAiAiiAii== 1626230691572"
