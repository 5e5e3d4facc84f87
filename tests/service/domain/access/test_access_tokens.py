"""Access tokens of OAuth clients: how long they count, what they may do, and what is no token at all."""

import pytest

from webapp.errors import Unauthorized
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.access import access_tokens, clients
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service


def test_a_token_lives_an_hour(service: Service, clock: FakeClock) -> None:
    client, _ = clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None)
    assert token.created_at == clock() // SECOND
    clock.advance(3599 * SECOND)
    assert access_tokens.verify(service, token.token) == (client, frozenset({"*"}))
    clock.advance(SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        access_tokens.verify(service, token.token)


def test_a_token_from_a_clock_far_ahead_is_refused(service: Service, clock: FakeClock) -> None:
    client, _ = clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    clock.advance(-61 * SECOND)
    with pytest.raises(Unauthorized):
        access_tokens.verify(service, token)


def test_a_request_narrows_scopes_and_never_widens(service: Service) -> None:
    client, _ = clients.create(service, name="Server", scope="connect:accounts:read connect:actions:*")
    assert access_tokens.issue(service, client, None).scope == "connect:accounts:read connect:actions:*"
    assert access_tokens.issue(service, client, "  ").scope == "connect:accounts:read connect:actions:*"
    assert access_tokens.issue(service, client, "connect:actions:*").scope == "connect:actions:*"
    for wider in ("*", "connect:*", "connect:accounts:write", "nonsense"):
        with pytest.raises(scopes.UnknownScope):
            access_tokens.issue(service, client, wider)
    with pytest.raises(scopes.UnknownScope):
        clients.create(service, name="Bad", scope="nonsense")


@pytest.mark.parametrize("token", ["", "x", "a.b", "ctok_" + "0" * 32, "é.è", "W10.abc", "\ud800.x", "a" * 10_000])
def test_garbage_is_no_token(service: Service, token: str) -> None:
    with pytest.raises(Unauthorized):
        access_tokens.verify(service, token)


def test_a_token_changed_in_one_character_is_refused(service: Service) -> None:
    client, _ = clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    middle = len(token) // 3
    changed = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]
    with pytest.raises(Unauthorized):
        access_tokens.verify(service, changed)


def test_a_token_that_was_refused_as_expired_stays_so_when_the_clock_is_set_back(
    service: Service, clock: FakeClock
) -> None:
    client, _ = clients.create(service, name="Server")
    token, other = (access_tokens.issue(service, client, scope).token for scope in (None, "connect:accounts:read"))
    clock.advance(access_tokens.LIFETIME_S * SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        access_tokens.verify(service, token)
    clock.advance(-access_tokens.LIFETIME_S * SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        access_tokens.verify(service, token)
    assert access_tokens.verify(service, other)[0] == client
    assert access_tokens.purge(service) == 0
    clock.advance(access_tokens.REMEMBERED + access_tokens.LIFETIME_S * SECOND + 1)
    assert access_tokens.purge(service) == 1
