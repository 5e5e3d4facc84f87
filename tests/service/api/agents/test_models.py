"""A user who is not there has no agents."""

from typing import Any


def test_nobodys_agent_is_absent(world: Any) -> None:
    nobody = {"external_user_id": "nobody"}
    answer = world.call("DELETE", "P/agents/sessions/ags_1", world.server(), query_string=nobody)
    assert (answer.status_code, answer.get_json()["error"]) == (404, "There is no such agent.")
