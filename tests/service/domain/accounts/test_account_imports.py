"""Accounts of another service: each row becomes an account that works or nothing, and twice is once."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from webapp.errors import Conflict
from webapp.kit import cursors
from webapp.kit.clock import HOUR, SECOND, now
from webapp.service.domain.accounts import account_imports, accounts, connections, credentials, oauth_apps
from webapp.service.domain.accounts.account_imports import RowResult
from webapp.service.domain.accounts.import_files import Row
from webapp.service.domain.projects import activity

CANARY = "canary-token"


def row(number: int = 1, **changes: Any) -> Row:
    """A row whose refresh token is good."""
    return replace(
        Row(number, f"user-{number}", "acme", id=f"old-{number}", refresh_token=f"{CANARY}{number}.0"), **changes
    )


def run(bench: Any, *rows: Row, test: bool = True, dry_run: bool = False) -> list[RowResult]:
    return list(account_imports.import_rows(bench.service, bench.scene, rows, test=test, dry_run=dry_run, at_once=2))


def kinds(results: Iterable[RowResult]) -> list[str]:
    return [result.kind for result in results]


def listed(bench: Any) -> tuple[int, int]:
    page = accounts.page(bench.service.store, bench.scene, accounts.Filter(), cursors.Window(limit=100))
    return len(page.items), page.total_count


def who(bench: Any) -> Callable[[BaseHTTPRequestHandler], None]:
    """Answers ``/me`` by the bearer's token: each grant is somebody, and a token without a number nobody."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        name = token.removeprefix("a-").partition(".")[0]
        status = 200 if name.startswith(CANARY) and "stale" not in name else 401
        body = json.dumps({"id": name, "name": f"Ada of {name}"} if status == 200 else {"error": token}).encode()
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


@pytest.fixture
def shop(bench: Any) -> Any:
    """Acme, which knows many grants."""
    bench.acme.grants = {}
    bench.acme.plays["/me"] = who(bench)
    return bench


def test_a_refresh_token_becomes_an_account_that_works(shop: Any) -> None:
    (result,) = run(shop, row(scopes=("read",), name="Work"))
    assert (result.kind, result.reason) == ("imported", None)
    account = accounts.get(shop.service.store, shop.scene, result.account_id or "")
    assert (account.external_id, account.name, account.healthy, account.revision) == ("user-1", "Work", True, 1)
    assert (account.identity_id, account.authorized_scopes) == (f"{CANARY}1", ("read",))
    assert account.expires_at == shop.clock() + HOUR and account.last_checked_at == shop.clock()
    values = credentials.read(shop.service, account)
    assert values == {
        "oauth_access_token": f"a-{CANARY}1.1", "oauth_refresh_token": f"{CANARY}1.1", "oauth_uid": f"{CANARY}1",
    }  # fmt: skip
    entries = activity.of_account(shop.service.store, account.id, cursors.Window()).items
    assert [entry.sentence for entry in entries] == [f"Imported as Ada of {CANARY}1."]


def test_twice_is_once_and_the_account_keeps_what_it_has(shop: Any) -> None:
    first = run(shop, row(), row(2))
    assert kinds(run(shop, row(), row(2))) == ["there", "there"]
    assert kinds(run(shop, row(), row(2), test=False)) == ["there", "there"]
    assert listed(shop) == (2, 2) and shop.acme.token_calls == 2
    assert [result.account_id for result in run(shop, row(), row(2))] == [result.account_id for result in first]


def test_an_access_token_that_is_good_needs_no_refresh(shop: Any) -> None:
    fresh = row(access_token=f"{CANARY}1", expires_at=shop.clock() + HOUR)
    assert kinds(run(shop, fresh)) == ["imported"] and shop.acme.token_calls == 0
    stale = row(2, access_token=f"{CANARY}-stale")
    assert kinds(run(shop, stale)) == ["imported"] and shop.acme.token_calls == 1  # refused first, then renewed
    lonely = row(3, access_token=f"{CANARY}-stale", refresh_token="")
    assert kinds(run(shop, lonely)) == ["refused"]
    ended = row(4, access_token=f"{CANARY}4", refresh_token="", expires_at=shop.clock() - SECOND)
    assert [result.reason for result in run(shop, ended)] == ["Its access has expired, and there is no refresh token."]
    assert listed(shop) == (2, 2)


def test_broken_rows_of_each_kind_leave_no_row_and_no_secret(shop: Any) -> None:
    other = oauth_apps.add(shop.service, app="acmeissuer", client_id="other", client_secret="s")
    broken = [
        (row(app="absent"), "invalid", "There is no app 'absent'"),
        (row(app="schedule"), "invalid", "needs no account"),
        (row(external_user="x" * 251), "invalid", "1 to 250 characters"),
        (row(name="x" * 201), "invalid", "The name is not valid"),
        (row(refresh_token=""), "invalid", "Acme needs a refresh token or an access token."),
        (row(oauth_client="unknown"), "invalid", "No OAuth client for Acme with this client ID"),
        (row(oauth_client="oa_unknown"), "invalid", "No OAuth client for Acme with this id is here."),
        (row(oauth_client=other.id), "invalid", "No OAuth client for Acme with this id is here."),
        (row(credentials={"tenant": CANARY}), "invalid", "Acme has no field 'tenant'; it has none."),
        (row(app="acmekeys"), "invalid", "Acme Keys is connected by keys"),
        (row(app="acmekeys", refresh_token="", credentials={"user": CANARY}), "invalid", "Enter the Password."),
        (row(refresh_token=f"{CANARY}9.5"), "refused", "Acme"),
        (Row(1, problem="It is no JSON object."), "invalid", "It is no JSON object."),
    ]  # fmt: skip
    results = run(shop, *(each for each, _, _ in broken))
    for result, (_, kind, sentence) in zip(results, broken, strict=True):
        assert sentence in (result.reason or "")
        assert result.kind == kind
    assert CANARY not in json.dumps([result.to_json() for result in results])
    assert listed(shop) == (0, 0)


def test_a_provider_that_is_down_is_asked_again_by_the_next_run(shop: Any) -> None:
    shop.acme.token_status = 503
    assert kinds(run(shop, row())) == ["unanswered"] and listed(shop) == (0, 0)
    shop.acme.token_status = 200
    assert kinds(run(shop, row())) == ["imported"]


def test_an_import_that_ended_between_the_refresh_and_the_test_is_completed(
    shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(account_imports, "_completed", killed)
        with pytest.raises(KeyboardInterrupt):
            account_imports.import_row(shop.service, shop.scene, row(), test=True, dry_run=False)
    (kept,) = accounts.page(shop.service.store, shop.scene, accounts.Filter(), cursors.Window()).items
    assert (kept.identity_id, kept.last_checked_at) == (None, None)
    assert kinds(run(shop, row())) == ["imported"]  # its refresh token was good for one use
    after = accounts.get(shop.service.store, shop.scene, kept.id)
    assert (after.identity_id, shop.acme.token_calls, listed(shop)) == (f"{CANARY}1", 1, (1, 1))
    assert kinds(run(shop, row())) == ["there"]


def test_renewed_access_that_the_test_refuses_is_removed_again(shop: Any) -> None:
    grant = f"{CANARY}-stale"
    assert kinds(run(shop, row(refresh_token=f"{grant}.0"))) == ["refused"]
    assert listed(shop) == (0, 0)


def test_what_the_user_connected_meanwhile_is_not_doubled(shop: Any) -> None:
    run(shop, row())
    token = f"{CANARY}1"
    (again,) = run(shop, row(id="another", access_token=token))
    assert (again.kind, again.reason) == ("there", "The user has connected this account already.")
    renewed = row(id="third", refresh_token=f"{CANARY}1.1")
    assert kinds(run(shop, renewed)) == ["there"] and listed(shop) == (1, 1)


def test_a_dry_run_asks_nobody_and_writes_nothing(shop: Any) -> None:
    results = run(shop, row(), row(2, app="absent"), dry_run=True)
    assert kinds(results) == ["valid", "invalid"]
    assert (shop.acme.token_calls, shop.acme.me_calls, listed(shop)) == (0, 0, (0, 0))
    run(shop, row())
    assert kinds(run(shop, row(), dry_run=True)) == ["there"]


def test_without_a_test_accounts_are_stored_and_tested_within_the_hour(shop: Any) -> None:
    known = oauth_apps.of_client_id(shop.service.store, shop.scene.project_id, "acme", "c")
    assert known is not None
    results = run(
        shop, row(oauth_client="c"), row(2, oauth_client=known.id, access_token="a", expires_at=now()), test=False
    )
    assert kinds(results) == ["imported", "imported"] and shop.acme.token_calls == 0
    for result in results:
        account = accounts.get(shop.service.store, shop.scene, result.account_id or "")
        assert account.last_checked_at is None and account.oauth_app_id == known.id
        assert shop.clock() <= (account.next_check_at or 0) <= shop.clock() + HOUR


def test_keys_are_tested_and_without_an_id_their_values_tell_rows_apart(bench: Any) -> None:
    def session(request: BaseHTTPRequestHandler) -> None:
        good = b"password=good" in bench.acme.posted
        body = b'{"id": "s1", "life": 3600, "site": "eu"}' if good else b"{}"
        request.send_response(200 if good else 401)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    bench.acme.plays["/session"] = session
    keys = Row(1, "u", "acmekeys", credentials={"user": "ada", "password": "good"})
    bad = replace(keys, line=2, credentials={"user": "ada", "password": "canary-bad"})
    results = run(bench, keys, bad)
    assert kinds(results) == ["imported", "refused"] and "canary" not in str(results[1].reason)
    assert kinds(run(bench, keys)) == ["there"] and listed(bench) == (1, 1)
    account = accounts.get(bench.service.store, bench.scene, results[0].account_id or "")
    assert credentials.read(bench.service, account)["site"] == "eu"


def test_a_renewal_meanwhile_is_not_overwritten(shop: Any) -> None:
    (result,) = run(shop, row())
    account = accounts.get(shop.service.store, shop.scene, result.account_id or "")
    accepted = connections.AcceptedCredentials(shop.app, {"oauth_access_token": "older"}, None, None, None)
    stale = account._replace(revision=account.revision - 1)
    with pytest.raises(Conflict):
        connections.store_imported(shop.service, shop.scene, "user-1", accepted, account_id=account.id, existing=stale)
    assert (
        credentials.read(shop.service, accounts.get(shop.service.store, shop.scene, account.id))["oauth_access_token"]
        != "older"
    )
