"""Access tokens: how long they live, what they are narrowed to, and what is none."""

import hashlib
from typing import Any

import pytest
from itsdangerous import URLSafeSerializer

from webapp.errors import Unauthorized
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service


def test_a_token_lives_an_hour(service: Service, clock: FakeClock) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None)
    assert token.created_at == clock() // SECOND
    clock.advance(3599 * SECOND)
    assert access_tokens.verify(service, token.token) == (client, frozenset({"*"}))
    clock.advance(SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        access_tokens.verify(service, token.token)


def test_a_token_from_a_clock_far_ahead_is_refused(service: Service, clock: FakeClock) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    clock.advance(-61 * SECOND)
    with pytest.raises(Unauthorized):
        access_tokens.verify(service, token)


def test_a_request_narrows_scopes_and_never_widens(service: Service) -> None:
    client, _ = oauth_clients.create(service, name="Server", scope="connect:accounts:read connect:actions:*")
    assert access_tokens.issue(service, client, None).scope == "connect:accounts:read connect:actions:*"
    assert access_tokens.issue(service, client, "  ").scope == "connect:accounts:read connect:actions:*"
    assert access_tokens.issue(service, client, "connect:actions:*").scope == "connect:actions:*"
    for wider in ("*", "connect:*", "connect:accounts:write", "nonsense"):
        with pytest.raises(token_scopes.UnknownScope):
            access_tokens.issue(service, client, wider)
    with pytest.raises(token_scopes.UnknownScope):
        oauth_clients.create(service, name="Bad", scope="nonsense")


@pytest.mark.parametrize("token", ["", "x", "a.b", "ctok_" + "0" * 32, "é.è", "W10.abc", "\ud800.x", "a" * 10_000])
def test_garbage_is_no_token(service: Service, token: str) -> None:
    with pytest.raises(Unauthorized):
        access_tokens.verify(service, token)


def test_a_token_changed_in_one_character_is_refused(service: Service) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    middle = len(token) // 3
    changed = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]
    with pytest.raises(Unauthorized):
        access_tokens.verify(service, changed)


def test_a_token_that_was_refused_as_expired_stays_so_when_the_clock_is_set_back(
    service: Service, clock: FakeClock
) -> None:
    client, _ = oauth_clients.create(service, name="Server")
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


def test_a_call_asks_for_its_client_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token, statements = access_tokens.issue(service, client, None).token, list[str]()
    tuples = type(service.store).tuples

    def noted(store: Any, sql: str, params: Any) -> Any:
        statements.append(sql)
        return tuples(store, sql, params)

    monkeypatch.setattr(type(service.store), "tuples", noted)
    monkeypatch.setattr(type(service.store), "one", None)
    assert access_tokens.verify(service, token)[0] == client
    assert len(statements) == 1


def test_tokens_are_signed_with_sha256_and_those_of_sha1_are_read_until_they_expire(
    service: Service, clock: FakeClock
) -> None:
    client, _ = oauth_clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    payload = URLSafeSerializer("", salt="oauth").loads_unsafe(token)[1]
    key = service.keys.derive(access_tokens.PURPOSE)
    assert URLSafeSerializer(key, salt="oauth", signer_kwargs={"digest_method": hashlib.sha256}).loads(token) == payload
    earlier = URLSafeSerializer(key, salt="oauth").dumps(payload)
    assert earlier != token
    assert access_tokens.verify(service, earlier)[0] == client
