"""A trigger with all that stands around it on its page."""

from typing import Any

import pytest

from tests.dashboard.fake_components import ACCOUNT, install
from tests.dashboard.trigger.fake_triggers import Watchtower

PROPS = [
    ACCOUNT, {"name": "timer", "type": "$.interface.timer", "label": "Schedule"},
    {"name": "list", "type": "string", "label": "List", "options": [{"label": "At home", "value": "home"}]},
    {"name": "token", "type": "string", "label": "Token", "secret": True}, {"name": "db", "type": "$.service.db"},
]  # fmt: skip


@pytest.fixture
def deployed(stage: Any, tower: Watchtower) -> Watchtower:
    """The trigger dc_000000x with a working and a broken address and two events, and somebody else's trigger."""
    install(stage.connect)
    me = stage.alice.id
    stage.connect.add_account(me, "tasks", name="Ada's tasks")
    configured = {"tasks": {"authProvisionId": "apn_000000x"}, "list": "home", "token": None}
    accounts = [{"prop": "tasks", "id": "apn_000000x"}]
    mine = str(tower.add(me, name="New task", configurable_props=PROPS, accounts=accounts,
                         configured_props=configured)["id"])  # fmt: skip
    tower.add("u_somebody")
    tower.add_endpoint(mine, "https://hooks.example.com/in")
    tower.add_endpoint(mine, "https://old.example.com/in", "deactivated", last_error="It answered 410 Gone.")
    tower.add_event(mine, {"id": 1, "title": "<script>alert(1)</script>"}, "New task: Paint")
    tower.add_event(mine, {"id": 2}, "New task: Sail")
    return tower
