"""OAuth clients and their access tokens."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from itsdangerous import URLSafeSerializer

from webapp.errors import Unauthorized
from webapp.kit.clock import MINUTE, SECOND, FakeClock
from webapp.service.domain.access import clients
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects


def test_a_client_authenticates_by_its_secret_alone(service: Service) -> None:
    client, secret = clients.create(service, name="Server")
    assert clients.authenticate(service, client.id, secret) == client
    assert clients.authenticate(service, client.id, secret + "x") is None
    assert clients.authenticate(service, client.id, "") is None
    assert clients.authenticate(service, "nobody", secret) is None
    assert clients.authenticate(service, "nobody", "") is None


def test_the_secret_is_not_stored(service: Service) -> None:
    _, secret = clients.create(service, name="Server")
    rows = service.store.all("SELECT * FROM oauth_clients")
    assert rows and secret not in str(rows)


def test_the_dashboards_client_is_derived_and_never_stored(service: Service) -> None:
    client_id, secret = clients.dashboard(service)
    assert clients.authenticate(service, client_id, secret) is not None
    assert clients.every(service.store) == []


def test_the_example_products_client_sees_one_project_and_is_there_with_the_sandbox(
    service: Service, clock: FakeClock
) -> None:
    client_id, secret = clients.example(service)
    assert clients.authenticate(service, client_id, secret) is None, "there is no project yet"
    project = projects.create(service, name="Acme")
    clock.advance(SECOND)
    projects.create(service, name="Other")
    client = clients.authenticate(service, client_id, secret)
    assert client and client.project_id == project.id and "write" not in client.scope and "*" not in client.scope
    assert clients.authenticate(service, client_id, clients.dashboard(service)[1]) is None
    assert service.store.one("SELECT 1 FROM oauth_clients") is None
    without = replace(service, settings=replace(service.settings, sandbox=False))
    assert clients.find(without, client_id) is None


def test_a_token_lives_an_hour(service: Service, clock: FakeClock) -> None:
    client, _ = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None)
    assert token.created_at == clock() // SECOND
    clock.advance(3599 * SECOND)
    assert clients.verify_token(service, token.token) == (client, frozenset({"*"}))
    clock.advance(SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        clients.verify_token(service, token.token)


def test_a_token_from_a_clock_far_ahead_is_refused(service: Service, clock: FakeClock) -> None:
    client, _ = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    clock.advance(-61 * SECOND)
    with pytest.raises(Unauthorized):
        clients.verify_token(service, token)


def test_a_request_narrows_scopes_and_never_widens(service: Service) -> None:
    client, _ = clients.create(service, name="Server", scope="connect:accounts:read connect:actions:*")
    assert clients.issue_token(service, client, None).scope == "connect:accounts:read connect:actions:*"
    assert clients.issue_token(service, client, "  ").scope == "connect:accounts:read connect:actions:*"
    assert clients.issue_token(service, client, "connect:actions:*").scope == "connect:actions:*"
    for wider in ("*", "connect:*", "connect:accounts:write", "nonsense"):
        with pytest.raises(scopes.UnknownScope):
            clients.issue_token(service, client, wider)
    with pytest.raises(scopes.UnknownScope):
        clients.create(service, name="Bad", scope="nonsense")


@pytest.mark.parametrize("token", ["", "x", "a.b", "ctok_" + "0" * 32, "é.è", "W10.abc", "\ud800.x", "a" * 10_000])
def test_garbage_is_no_token(service: Service, token: str) -> None:
    with pytest.raises(Unauthorized):
        clients.verify_token(service, token)


def test_a_token_changed_in_one_character_is_refused(service: Service) -> None:
    client, _ = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    middle = len(token) // 3
    changed = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]
    with pytest.raises(Unauthorized):
        clients.verify_token(service, changed)


def test_a_token_that_was_refused_as_expired_stays_so_when_the_clock_is_set_back(
    service: Service, clock: FakeClock
) -> None:
    client, _ = clients.create(service, name="Server")
    token, other = (clients.issue_token(service, client, scope).token for scope in (None, "connect:accounts:read"))
    clock.advance(clients.LIFETIME_S * SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        clients.verify_token(service, token)
    clock.advance(-clients.LIFETIME_S * SECOND)
    with pytest.raises(Unauthorized, match="expired"):
        clients.verify_token(service, token)
    assert clients.verify_token(service, other)[0] == client
    assert clients.purge_tokens(service) == 0
    clock.advance(clients.REMEMBERED + clients.LIFETIME_S * SECOND + 1)
    assert clients.purge_tokens(service) == 1


def test_a_call_asks_for_its_client_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    client, _ = clients.create(service, name="Server")
    token, statements = clients.issue_token(service, client, None).token, list[str]()
    tuples = type(service.store).tuples

    def noted(store: Any, sql: str, params: Any) -> Any:
        statements.append(sql)
        return tuples(store, sql, params)

    monkeypatch.setattr(type(service.store), "tuples", noted)
    monkeypatch.setattr(type(service.store), "one", None)
    assert clients.verify_token(service, token)[0] == client
    assert len(statements) == 1


def test_tokens_are_signed_with_sha256_and_those_of_sha1_are_read_until_they_expire(
    service: Service, clock: FakeClock
) -> None:
    client, _ = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    payload = URLSafeSerializer("", salt="oauth").loads_unsafe(token)[1]
    key = service.keys.derive(clients.PURPOSE)
    assert URLSafeSerializer(key, salt="oauth", signer_kwargs={"digest_method": hashlib.sha256}).loads(token) == payload
    earlier = URLSafeSerializer(key, salt="oauth").dumps(payload)
    assert earlier != token
    assert clients.verify_token(service, earlier)[0] == client


@pytest.mark.parametrize(
    ("granted", "needed", "covered"),
    [
        (scopes.ALL, scopes.PROJECTS_WRITE, True),
        (scopes.ALL, scopes.CONNECT, True),
        (scopes.CONNECT, scopes.ACCOUNTS_READ, True),
        (scopes.CONNECT, scopes.ACTIONS, True),
        (scopes.CONNECT, scopes.ALL, False),
        (scopes.ACTIONS, scopes.ACTIONS, True),
        (scopes.ACTIONS, scopes.TRIGGERS, False),
        (scopes.ACCOUNTS_READ, scopes.ACCOUNTS_WRITE, False),
        (scopes.ACCOUNTS_READ, scopes.CONNECT, False),
    ],
)
def test_what_covers_what(granted: str, needed: str, covered: bool) -> None:
    assert clients.covers([granted], needed) is covered


def test_nothing_covers_nothing() -> None:
    assert not clients.covers([], scopes.ACCOUNTS_READ)


def test_when_a_client_called_last_is_told_to_the_minute(service: Service, clock: FakeClock) -> None:
    client, _ = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    clients.flush_uses(service)
    assert clients.get(service.store, client.id).last_used_at is None
    began = clock()
    for wait, told in ((0, 0), (MINUTE - 1, 0), (1, MINUTE)):
        clock.advance(wait)
        clients.verify_token(service, token)
        clients.flush_uses(service)
        assert clients.get(service.store, client.id).last_used_at == began + told


def test_no_call_waits_until_it_is_written_who_called(service: Service) -> None:
    client, _ = clients.create(service, name="Server")
    token = clients.issue_token(service, client, None).token
    with service.store.write():
        clients.verify_token(service, token)
    assert clients.get(service.store, client.id).last_used_at is None
    clients.flush_uses(service)
    assert clients.get(service.store, client.id).last_used_at is not None
