"""Tokens of agents: each code and refresh token works once, and one that comes twice ends everything."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.people.agents.conftest import URI, VERIFIER
from webapp.kit.clock import DAY, HOUR, MINUTE, FakeClock
from webapp.people import users
from webapp.people.agents import tokens
from webapp.people.agents.clients import AgentClient
from webapp.people.agents.tokens import TokenPair
from webapp.store.contract import Store


@pytest.fixture
def exchange(store: Store, clock: FakeClock, agent: AgentClient) -> Callable[..., TokenPair | None]:
    """Exchanges a code, rightly unless told otherwise."""

    def send(code: str, **changes: Any) -> TokenPair | None:
        right: dict[str, Any] = {"client_id": agent.id, "redirect_uri": URI, "verifier": VERIFIER}
        return tokens.exchange_code(store, clock(), code=code, **right | changes)

    return send


@pytest.fixture
def pair(let_in: Callable[[], str], exchange: Callable[..., TokenPair | None]) -> TokenPair:
    """The first tokens."""
    first = exchange(let_in())
    assert first is not None
    return first


@pytest.mark.parametrize("change", [{"client_id": "agent_x"}, {"redirect_uri": URI + "x"}, {"verifier": "w" * 43}])
def test_a_code_is_worth_nothing_to_others(
    let_in: Callable[[], str], exchange: Callable[..., TokenPair | None], change: dict[str, str]
) -> None:
    code = let_in()
    assert exchange(code, **change) is None
    assert exchange(code) is not None


def test_a_code_that_comes_twice_ends_what_it_gave(
    store: Store, clock: FakeClock, let_in: Callable[[], str], exchange: Callable[..., TokenPair | None]
) -> None:
    code = let_in()
    first = exchange(code)
    assert first is not None and tokens.grant_of(store, first.access, clock()) is not None
    assert exchange(code) is None
    assert tokens.grant_of(store, first.access, clock()) is None
    assert store.all("SELECT * FROM agent_tokens") == []


def test_a_code_lives_two_minutes(
    clock: FakeClock, let_in: Callable[[], str], exchange: Callable[..., TokenPair | None]
) -> None:
    code = let_in()
    clock.advance(2 * MINUTE)
    assert exchange(code) is None


def test_a_refresh_token_works_once(store: Store, clock: FakeClock, agent: AgentClient, pair: TokenPair) -> None:
    assert tokens.exchange_refresh(store, clock(), token=pair.refresh, client_id="agent_x") is None
    second = tokens.exchange_refresh(store, clock(), token=pair.refresh, client_id=agent.id)
    assert second is not None and tokens.grant_of(store, second.access, clock()) is not None
    assert tokens.exchange_refresh(store, clock(), token=pair.refresh, client_id=agent.id) is None
    assert tokens.grant_of(store, second.access, clock()) is None
    assert tokens.exchange_refresh(store, clock(), token=second.refresh, client_id=agent.id) is None


def test_tokens_end_with_time(store: Store, clock: FakeClock, agent: AgentClient, pair: TokenPair) -> None:
    clock.advance(HOUR)
    assert tokens.grant_of(store, pair.access, clock()) is None
    assert tokens.purge(store, clock()) == 1
    clock.advance(30 * DAY)
    assert tokens.exchange_refresh(store, clock(), token=pair.refresh, client_id=agent.id) is None


def test_tokens_are_kept_as_hashes_and_go_with_the_person(store: Store, clock: FakeClock, pair: TokenPair) -> None:
    rows = repr(store.all("SELECT * FROM agent_tokens"))
    assert pair.access not in rows and pair.refresh not in rows
    users.create(store, clock, email="bob@example.com", password="a long password", role="owner")
    ada = users.by_email(store, "ada@example.com")
    assert ada is not None
    with store.write() as tx:
        users.remove(tx, clock(), ada)
    assert store.all("SELECT * FROM agent_tokens") == store.all("SELECT * FROM agent_grants") == []


@pytest.mark.parametrize("kind", ["access", "refresh"])
def test_signing_out_ends_both(store: Store, clock: FakeClock, agent: AgentClient, pair: TokenPair, kind: str) -> None:
    token = getattr(pair, kind)
    assert not tokens.revoke(store, clock(), token=token, client_id="agent_x")
    assert tokens.revoke(store, clock(), token=token, client_id=agent.id)
    assert tokens.grant_of(store, pair.access, clock()) is None
