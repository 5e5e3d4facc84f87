"""Agents that registered themselves are nothing until somebody lets them in, and are never sent to an address that a
browser would run or read.
"""

from collections.abc import Callable

import pytest

from webapp.errors import Invalid
from webapp.kit.clock import DAY, FakeClock
from webapp.people.agents import clients
from webapp.people.agents.clients import AgentClient
from webapp.store.contract import Store


@pytest.mark.parametrize(
    "uri",
    [
        "https://agent.example/callback", "http://localhost:33418/", "http://127.0.0.1/callback", "http://[::1]:1/x",
        "cursor://anysphere.cursor-mcp/oauth/callback", "com.example.app:/callback", "https://agent.example/cb?x=1",
    ],
)  # fmt: skip
def test_usable(uri: str) -> None:
    assert clients.usable_redirect(uri)


@pytest.mark.parametrize(
    "uri",
    [
        "", "javascript:/alert(1)", "JavaScript:/alert(1)", "data:/text/html,x", "http://agent.example/", "https://",
        "https://a@agent.example/", "https://agent.example/#x", "https://agent.example/ x", "//agent.example",
        "http://localhost.evil.example/", "http://localhost@evil.example/", "file:///etc/passwd", "cursor:callback",
        "https://agent.example\\@evil.example/", "https://agent.example:0/", "https://[", "https://ex\u00e4mple.com/",
        "https://agent.example/" + "x" * 1_000, "https://a.example;sandbox/", "https://a.example,x/",
        "https://a.example%2f.b.example/", "https://a.example:/", "blob:/x", "view-source:/x", "intent:/x", "urn:/x",
    ],
)  # fmt: skip
def test_not_usable(uri: str) -> None:
    assert not clients.usable_redirect(uri)


def test_only_the_port_of_this_machine_is_free() -> None:
    registered = ("http://127.0.0.1/callback", "https://agent.example/cb")
    assert clients.redirect_matches("http://127.0.0.1:5005/callback", registered)
    assert clients.redirect_matches("https://agent.example/cb", registered)
    for uri in (
        "http://127.0.0.1:5005/other", "http://localhost:5005/callback", "http://127.0.0.1:5005/callback?x",
        "https://agent.example/cb/", "https://agent.example:8443/cb", "https://agent.example/cb?x",
        "https://AGENT.example/cb",
    ):  # fmt: skip
        assert not clients.redirect_matches(uri, registered), uri


def test_where_it_leads() -> None:
    assert clients.redirect_place("https://agent.example:8443/cb") == "agent.example:8443"
    assert clients.redirect_place("cursor://x/y") == "cursor:"
    assert clients.redirect_place("http://localhost:1/x") == ""


def test_what_nobody_lets_in_is_forgotten_after_a_day(
    store: Store, clock: FakeClock, agent: AgentClient, let_in: Callable[[], str]
) -> None:
    other = clients.register(store, clock, name="\n", redirect_uris=("http://localhost/",))
    assert other.name == clients.NAMELESS
    let_in()
    clock.advance(DAY + 1)
    assert clients.purge(store, clock) == 1
    assert clients.find(store, agent.id) and clients.find(store, other.id) is None


@pytest.mark.parametrize("uris", [(), ("https://a.example/",) * 11, ("javascript:/x",)])
def test_unfit_addresses_are_refused(store: Store, clock: FakeClock, uris: tuple[str, ...]) -> None:
    with pytest.raises(Invalid):
        clients.register(store, clock, name="x", redirect_uris=uris)
