"""How limits stand, over the API, and the calls beyond them: how many there were lately, and whose."""

from typing import Any

import pytest

from tests.service.api.conftest import World
from webapp.kit.clock import HOUR, SECOND
from webapp.service.domain.access import connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.base.rate_limits import LIMITS, Limit


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same limits, for one call each."""
    for name, limit in LIMITS.items():
        monkeypatch.setitem(LIMITS, name, Limit(1, limit.window_s))


def refused(world: World, env: str = "development") -> dict[str, tuple[int, Any]]:
    rows = world.get("P/limits", world.server(), env=env).get_json()["data"]
    return {row["name"]: (row["refused"], row["refused_by"]) for row in rows if row["refused"]}


def test_calls_beyond_a_limit_are_reported_with_who_made_them(world: World, narrow: None) -> None:
    server, alice = world.server(), world.frontend("alice")
    for _ in range(3):
        world.get("P/accounts", server)
        world.get("P/components", alice)
        world.post("P/tokens", server, json={"external_user_id": "bob"})
    user = {"kind": "user", "id": "alice", "name": "alice"}
    client = {"kind": "client", "id": oauth_clients.every(world.service.store)[0].id, "name": "Server"}
    assert refused(world) == {"accounts": (2, client), "tools": (2, user), "tokens": (2, client)}
    assert refused(world, env="production") == {}
    world.get("P/accounts", alice)
    assert refused(world)["accounts"] == (3, None)
    world.clock.advance(HOUR)
    assert refused(world) == {}


def test_what_our_own_pages_are_refused_is_not_the_products(world: World, narrow: None) -> None:
    client_id, _ = oauth_clients.dashboard(world.service)
    token = connect_tokens.create(world.service, world.scene, TokenRequest("u_ann"), client_id=client_id)["token"]
    assert [world.get("P/accounts", token).status_code for _ in range(2)] == [200, 429]
    assert refused(world) == {}


def test_a_bound_on_runs_is_not_reported_as_a_limit_on_calls(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(world.service.settings.quotas, "PROJECT_RUNS", 1)
    statuses = [world.post("P/actions/run", world.server(), json={}).status_code for _ in range(3)]
    assert statuses == [400, 429, 429]
    assert refused(world) == {}


def test_what_is_used_up_is_reported_and_asking_uses_nothing(world: World) -> None:
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
