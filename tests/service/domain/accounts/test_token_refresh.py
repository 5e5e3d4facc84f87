"""A token is refreshed once for all callers, never twice, and the account is dead only when its provider says so."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.conftest import CountedSlot
from webapp.errors import Refused, UpstreamFailed, UpstreamTimedOut
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.domain.accounts import account_state, accounts, credentials, provider, token_refresh
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import leases

Plant = Callable[..., Account]
VALUES = {"oauth_access_token": "canary-access", "oauth_uid": "u-1"}


def test_a_good_token_is_left_alone(bench: Any) -> None:
    account = bench.connect()
    assert token_refresh.ensure_fresh(bench.service, account) == account
    assert bench.acme.token_calls == 0


@pytest.mark.parametrize("registered", [True, False])
def test_a_server_that_forgot_a_client_that_registered_itself_asks_its_people_to_reconnect(
    bench: Any, *, registered: bool
) -> None:
    account = bench.connect()
    bench.clock.advance(2 * HOUR)
    bench.acme.clients = {}
    with bench.service.store.write() as tx:
        issuer = "https://acme.example" if registered else None
        tx.run("UPDATE provider_clients SET registered_issuer = :issuer WHERE app = 'acme'", {"issuer": issuer})
    sentence = "has forgotten the client with which this account was connected. Connect the account again."
    with pytest.raises(Refused if registered else UpstreamFailed, match=sentence if registered else "invalid_client"):
        token_refresh.ensure_fresh(bench.service, account)
    assert accounts.get(bench.service.store, account.scene, account.id).dead is registered


def test_fifty_callers_of_an_expired_account_cause_one_refresh(bench: Any, open_bench: Callable[[], Any]) -> None:
    account, other = bench.connect(), open_bench()
    bench.clock.advance(2 * HOUR)
    bench.acme.delay_s = 0.2
    gate = threading.Barrier(50)

    def use(index: int) -> str:
        gate.wait()
        service = (bench if index % 2 else other).service
        return str(credentials.read(service, token_refresh.ensure_fresh(service, account))["oauth_access_token"])

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(use, range(50))) == {"a1"}
    assert bench.acme.token_calls == 1
    assert not bench.acme.dead


def test_others_compute_while_another_refreshes(bench: Any, slot: CountedSlot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_refresh, "WAIT_S", 0.01)
    account = bench.connect()
    assert account_state.claim_refresh(bench.service, account)
    before = slot.released
    with pytest.raises(UpstreamTimedOut):
        token_refresh.refresh(bench.service, account)
    assert slot.released > before and slot.released == slot.reacquired


def test_a_token_whose_app_was_removed_is_kept_for_later(bench: Any) -> None:
    account = bench.connect()
    with bench.service.store.write() as tx:
        tx.run("UPDATE accounts SET app = 'departed' WHERE id = :id", {"id": account.id})
    bench.clock.advance(2 * HOUR)
    with pytest.raises(UpstreamFailed, match="Departed was removed from this service"):
        token_refresh.ensure_fresh(bench.service, account)
    kept = accounts.get(bench.service.store, account.scene, account.id)
    assert (kept.healthy, kept.dead, kept.failures, kept.error) == (True, False, 0, None)
    assert account_state.due_for_refresh(bench.service, 10) == [] and bench.acme.token_calls == 0


def test_what_a_refresh_writes(bench: Any) -> None:
    account = bench.connect()
    bench.clock.advance(HOUR)
    after = token_refresh.ensure_fresh(bench.service, account)
    values = credentials.read(bench.service, after)
    assert (values["oauth_access_token"], values["oauth_refresh_token"]) == ("a1", "r1")
    assert after.expires_at == bench.clock() + HOUR
    assert after.next_refresh_at == bench.clock() + 55 * MINUTE
    assert after.last_refreshed_at == bench.clock()
    assert after.revision == account.revision + 1


def test_an_answer_without_a_refresh_token_keeps_the_old_one(bench: Any) -> None:
    account = bench.connect()
    bench.acme.send_refresh = False
    bench.clock.advance(HOUR)
    account = token_refresh.ensure_fresh(bench.service, account)
    assert credentials.read(bench.service, account)["oauth_refresh_token"] == "r0"
    bench.clock.advance(HOUR)
    assert token_refresh.ensure_fresh(bench.service, account).healthy


def test_invalid_grant_makes_the_account_dead_at_once(bench: Any) -> None:
    account = bench.connect()
    bench.acme.dead = True
    bench.clock.advance(HOUR)
    with pytest.raises(Refused):
        token_refresh.ensure_fresh(bench.service, account)
    after = accounts.get(bench.service.store, bench.scene, account.id)
    assert (after.dead, after.healthy, after.next_refresh_at) == (True, False, None)
    assert "Connect the account again" in str(after.error)
    with pytest.raises(Refused):
        token_refresh.ensure_fresh(bench.service, after)
    assert bench.acme.token_calls == 1


def test_a_provider_that_is_down_is_left_in_peace_and_the_account_recovers(bench: Any) -> None:
    account = bench.connect()
    bench.acme.token_status = 503
    bench.clock.advance(2 * HOUR)
    for _ in range(20):
        with pytest.raises(UpstreamFailed):
            token_refresh.ensure_fresh(bench.service, account)
    assert bench.acme.token_calls == 1
    for _ in range(6 * 60):  # six hours, minute by minute, as the worker would
        bench.clock.advance(MINUTE)
        for due in account_state.due_for_refresh(bench.service, 10):
            with pytest.raises(UpstreamFailed):
                token_refresh.refresh(bench.service, due)
    assert 5 <= bench.acme.token_calls <= 15
    down = accounts.get(bench.service.store, bench.scene, account.id)
    assert (down.healthy, down.dead) == (False, False)
    bench.acme.token_status = 200
    bench.clock.advance(HOUR)
    (due,) = account_state.due_for_refresh(bench.service, 10)
    assert token_refresh.refresh(bench.service, due).healthy


def test_a_provider_that_says_how_long_to_wait_is_asked_again_only_then(bench: Any) -> None:
    def refuse(handler: BaseHTTPRequestHandler) -> None:
        bench.acme.token_calls += 1
        handler.send_response(429)
        handler.send_header("Retry-After", "7200")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    account = bench.connect()
    bench.acme.plays["/token"] = refuse
    bench.clock.advance(HOUR)
    for wait in (0, 2 * HOUR - SECOND):
        bench.clock.advance(wait)
        with pytest.raises(UpstreamFailed):
            token_refresh.ensure_fresh(bench.service, account)
        assert account_state.due_for_refresh(bench.service, 10) == []
    assert bench.acme.token_calls == 1
    del bench.acme.plays["/token"]
    bench.clock.advance(SECOND)
    (due,) = account_state.due_for_refresh(bench.service, 10)
    assert token_refresh.refresh(bench.service, due).healthy


def test_a_failed_early_refresh_lets_the_old_token_serve_until_it_expires(bench: Any) -> None:
    account = bench.connect()
    bench.acme.token_status = 500
    bench.clock.advance(56 * MINUTE)
    (due,) = account_state.due_for_refresh(bench.service, 10)
    assert token_refresh.refresh(bench.service, due).healthy is False
    assert token_refresh.ensure_fresh(bench.service, due).id == account.id


def test_a_holder_that_died_gives_way_when_its_lease_ends(bench: Any) -> None:
    account = bench.connect()
    bench.clock.advance(2 * HOUR)
    assert account_state.claim_refresh(bench.service, account) is not None  # and is then killed
    assert account_state.claim_refresh(bench.service, account) is None
    bench.clock.advance(leases.REFRESH + SECOND)
    assert token_refresh.ensure_fresh(bench.service, account).healthy


def test_a_token_that_was_lost_with_its_holder_needs_the_person_and_says_why(bench: Any) -> None:
    account = bench.connect()
    bench.clock.advance(2 * HOUR)
    holder = account_state.claim_refresh(bench.service, account)
    assert holder is not None
    provider.refresh(bench.service, holder, credentials.read(bench.service, holder))  # and is killed before it saves
    bench.clock.advance(leases.REFRESH + SECOND)
    with pytest.raises(Refused) as refusal:
        token_refresh.ensure_fresh(bench.service, account)
    assert refusal.value.message == (
        "This server was stopped in the middle of renewing the access, before Acme's new token was saved, "
        "and the old one is no longer valid. Reconnect the account."
    )
    after = accounts.get(bench.service.store, bench.scene, account.id)
    assert (after.dead, after.error) == (True, refusal.value.message)


@pytest.mark.faults
def test_a_token_of_one_minute_lives_a_day_with_one_refresh_a_minute(bench: Any) -> None:
    bench.acme.expires_in = 60
    account = bench.connect(expires_in=60)
    end = bench.clock() + DAY
    while bench.clock() < end:
        bench.clock.advance(SECOND * 48)
        for due in account_state.due_for_refresh(bench.service, 10):
            token_refresh.refresh(bench.service, due)
    assert DAY // MINUTE <= bench.acme.token_calls <= DAY // (48 * SECOND) + 1
    assert accounts.get(bench.service.store, bench.scene, account.id).healthy


def test_an_expired_token_without_a_refresh_token_needs_the_person(bench: Any) -> None:
    account = bench.connect(refresh_token=None)
    bench.clock.advance(HOUR)
    (due,) = account_state.due_for_refresh(bench.service, 10)
    with pytest.raises(Refused, match="no way to renew it"):
        token_refresh.refresh(bench.service, due)
    assert accounts.get(bench.service.store, bench.scene, account.id).dead
    assert bench.acme.token_calls == 0


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"access_token": 5}', b"{", b'{"access_token": "a\\n"}'])
def test_a_hostile_answer_is_passing_trouble(bench: Any, body: bytes) -> None:
    account = bench.connect()
    bench.acme.token_body = body
    bench.clock.advance(HOUR)
    with pytest.raises(UpstreamFailed):
        token_refresh.ensure_fresh(bench.service, account)
    after = accounts.get(bench.service.store, bench.scene, account.id)
    assert (after.healthy, after.dead) == (False, False)
    assert after.error
