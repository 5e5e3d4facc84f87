"""Agents that registered themselves are nothing until somebody lets them in."""

from collections.abc import Callable

import pytest

from webapp.errors import Invalid
from webapp.kit.clock import DAY, FakeClock
from webapp.people.agents import clients
from webapp.people.agents.clients import AgentClient
from webapp.store.contract import Store


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
