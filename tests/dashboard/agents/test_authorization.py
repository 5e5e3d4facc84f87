"""What an agent asks for: nobody is sent anywhere for a request that is wrong."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from webapp.dashboard.agents import authorization
from webapp.dashboard.agents.authorization import AuthorizationRequest
from webapp.errors import Invalid
from webapp.kit.clock import FakeClock
from webapp.people.agents import clients
from webapp.store.contract import Store

PUBLIC = "https://connect.example.com"
GOOD = AuthorizationRequest(
    client_id="agent_1",
    redirect_uri="https://agent.example/cb",
    response_type="code",
    code_challenge="c" * 43,
    code_challenge_method="S256",
    state="a&b=c",
    resource=f"{PUBLIC}/mcp",
)


@pytest.mark.parametrize("resource", ["", PUBLIC, f"{PUBLIC}/", f"{PUBLIC}/mcp/"])
def test_right_requests(resource: str) -> None:
    authorization.check(replace(GOOD, resource=resource), PUBLIC)


@pytest.mark.parametrize(
    "changes",
    [
        {"response_type": "token"},
        {"code_challenge": ""},
        {"code_challenge": "c" * 44},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": ""},
        {"state": "x" * 3_000},
        {"resource": "https://elsewhere.example/mcp"},
    ],
)
def test_wrong_requests(changes: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        authorization.check(replace(GOOD, **changes), PUBLIC)


def test_only_a_registered_address_is_told(store: Store, clock: FakeClock) -> None:
    known = clients.register(store, clock, name="x", redirect_uris=("https://agent.example/cb",))
    find = partial(clients.find, store)
    assert authorization.client_of(find, replace(GOOD, client_id=known.id)) == (known, GOOD.redirect_uri)
    assert authorization.client_of(find, replace(GOOD, client_id=known.id, redirect_uri=""))[1] == GOOD.redirect_uri
    for changes in ({"client_id": "agent_x"}, {"redirect_uri": "https://evil.example/cb", "client_id": known.id}):
        with pytest.raises(Invalid):
            authorization.client_of(find, replace(GOOD, **changes))


def test_the_agent_is_told_with_its_state_and_by_whom() -> None:
    assert authorization.told("https://a.example/cb?x=1", GOOD, PUBLIC, code="c d") == (
        "https://a.example/cb?x=1&code=c+d&state=a%26b%3Dc&iss=https%3A%2F%2Fconnect.example.com%2Fmcp%2Foauth"
    )
    assert "state" not in authorization.told("cursor://x/cb", replace(GOOD, state=""), PUBLIC, error="access_denied")
    assert "cb?code=c" in authorization.told("https://a.example/cb?", GOOD, PUBLIC, code="c")
