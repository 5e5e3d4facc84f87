"""How limits stand, over the API."""

from tests.service.api.conftest import World
from webapp.kit.clock import SECOND


def test_what_is_used_up_is_told_and_asking_uses_nothing(world: World) -> None:
    server = world.server()
    for _ in range(2):
        world.get("P/accounts", server)
    for _ in range(2):
        limits = {row["name"]: row for row in world.get("P/limits", server).get_json()["data"]}
        assert {name: row["used"] for name, row in limits.items()} == {
            "tokens": None, "accounts": 2, "tools": 0, "executions": 0, "proxy": 0,
        }  # fmt: skip
    assert limits["accounts"] == {
        "name": "accounts", "limit": 2000, "window_seconds": 300, "used": 2,
        "reset_at": world.clock() // SECOND + 300, "refused": 0, "refused_by": None,
    }  # fmt: skip
    production = world.get("P/limits", server, env="production").get_json()["data"]
    assert not any(row["used"] for row in production)


def test_a_window_ends(world: World) -> None:
    server = world.server()
    world.get("P/accounts", server)
    world.clock.advance(300 * SECOND)
    assert not any(row["used"] for row in world.get("P/limits", server).get_json()["data"])
