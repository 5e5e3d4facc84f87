"""A provider that answers with anything but what it should: each answer ends in a clear state and one sentence.

At three moments: as the code is exchanged and the person is asked after (connecting), as a token is renewed, and as an
account is looked after. What may pass never kills an account; what was not accepted is never stored.
"""

import gzip
import json
import re
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from flask import Flask
from markupsafe import escape

from tests.fakes.provider import APP_TOML, Play
from webapp.errors import Refused, UpstreamFailed
from webapp.kit import assets, cursors
from webapp.kit.clock import HOUR
from webapp.service.domain.accounts import accounts, attempts, credentials, health, starting
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import Attempt
from webapp.service.domain.accounts.starting import AttemptRequest
from webapp.service.domain.base.failures import ProviderDown, WrongAccount
from webapp.service.domain.projects import history
from webapp.service.link import wiring
from webapp.service.link.oauth_flow import binding_cookie

BIG = 100 * 1024 * 1024


def answer(body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> Play:
    def play(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return play


def flood(handler: BaseHTTPRequestHandler) -> None:
    """100 MB, as far as anyone takes it."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(BIG))
    handler.end_headers()
    try:
        for _ in range(BIG // 65_536):
            handler.wfile.write(b" " * 65_536)
    except OSError:
        return


def not_http(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00\x01\x02 hello\r\n\r\n")


BOMB = gzip.compress(bytes(BIG), 9)
HTML = b"<!doctype html><title>Maintenance</title><script>alert(1)</script>"
DEEP = b"[" * 50_000 + b"]" * 50_000
PLAYS: dict[str, Play] = {
    "a web page": answer(HTML, kind="text/html"),
    "a web page that calls itself JSON": answer(HTML),
    "nothing": answer(b""),
    "not UTF-8": answer(b'{"id": "\xff\xfe"}'),
    "too deep": answer(DEEP),
    "a list": answer(b"[]"),
    "100 MB": flood,
    "a gzip bomb": answer(BOMB, Content_Encoding="gzip"),
    "broken gzip": answer(b"\x1f\x8bgarbage", Content_Encoding="gzip"),
    "an error page": answer(HTML, 503, "text/html"),
    "not HTTP": not_http,
    "hung up": lambda handler: handler.connection.shutdown(socket.SHUT_RDWR),
}
TOKEN = {
    "a web page": "neither JSON nor a form. Try again later",
    "a web page that calls itself JSON": "neither JSON nor a form. Try again later",
    "nothing": "neither JSON nor a form. Try again later",
    "not UTF-8": "neither JSON nor a form. Try again later",
    "too deep": "neither JSON nor a form. Try again later",
    "a list": "neither JSON nor a form. Try again later",
    "100 MB": "sent more than 262,144 bytes, too much to be read. Try again later",
    "a gzip bomb": "sent more than 262,144 bytes, too much to be read. Try again later",
    "broken gzip": "cannot be unpacked. Try again later",
    "an error page": "cannot answer right now. Try again in a few minutes",
    "not HTTP": "did not answer in HTTP",
    "hung up": "broke the connection off. Try again later",
}
ME = {
    "a web page": "a web page instead of JSON",
    "a web page that calls itself JSON": "a web page instead of JSON",
    "not UTF-8": "not valid UTF-8 text",
    "too deep": "nested too deeply",
    "100 MB": "sent more than 1,048,576 bytes, too much to be read. Try again later",
    "a gzip bomb": "sent more than 1,048,576 bytes, too much to be read. Try again later",
    "broken gzip": "cannot be unpacked. Try again later",
    "an error page": "answered with status 503. Try again later",
    "not HTTP": "did not answer in HTTP",
    "hung up": "broke the connection off. Try again later",
}


@pytest.fixture
def forbidden() -> Iterator[Callable[[], int]]:
    """A neighbour in the private network: where it listens, and proof that nobody has come."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield lambda: int(listener.getsockname()[1])
        with pytest.raises(BlockingIOError):
            listener.accept()


def sign_in(bench: Any, **returned: str) -> Attempt:
    """Come back from the provider with a code; what became of the attempt."""
    return walk(bench, **returned)[0]


def walk(bench: Any, **returned: str) -> tuple[Attempt, str]:
    """Come back from the provider with a code, as a browser does; the attempt, and the page that is shown."""
    static = {"static_folder": str(assets.static_dir()), "static_url_path": "/static"}
    service, app = bench.service, Flask("webapp", template_folder=str(assets.templates_dir()), **static)  # type: ignore[arg-type]
    app.testing = True
    wiring.register(app, service)
    open_attempt, secret = starting.create(service, bench.token(), AttemptRequest("acme"))
    begun = starting.start(
        service, secret, scopes=("read", "write"), scope_profile="full", mode="tab",
        oauth_app_id=service.store.one("SELECT id FROM provider_clients WHERE app = 'acme'")["id"],
    )  # fmt: skip
    client = app.test_client()
    client.set_cookie(binding_cookie(service.settings, begun.attempt), begun.binding, domain="localhost", path="/")
    query = urlencode({"state": begun.state, "code": "c0", **returned})
    back = client.get(f"/connect/oauth/callback/acme?{query}", base_url="http://localhost:8600")
    assert back.status_code == 303, back.text
    shown = client.get(back.headers["Location"], base_url="http://localhost:8600")
    return attempts.reread(service, open_attempt), shown.text


def stored(bench: Any) -> list[Account]:
    rows = bench.service.store.all("SELECT id FROM accounts")
    return [accounts.get(bench.service.store, bench.scene, row["id"]) for row in rows]


def again(bench: Any, account: Account) -> Account:
    return accounts.get(bench.service.store, bench.scene, account.id)


def one_sentence(text: str | None) -> bool:
    """Whether it reads as a sentence, and repeats nothing of what the provider sent."""
    return bool(text) and re.fullmatch(r".{20,300}[.”]", text or "") is not None and "<" not in (text or "")


def test_a_good_sign_in_connects(bench: Any) -> None:
    assert sign_in(bench).status == "connected"
    (account,) = stored(bench)
    assert account.healthy and account.identity_name == "Ada"


@pytest.mark.parametrize("what", TOKEN)
def test_at_the_exchange_nothing_is_connected_and_the_provider_is_named_as_the_cause(bench: Any, what: str) -> None:
    bench.acme.plays["/token"] = PLAYS[what]
    ended = sign_in(bench)
    assert (ended.status, ended.error_code) == ("failed", "provider_unavailable")
    assert TOKEN[what] in str(ended.error_sentence) and one_sentence(ended.error_sentence)
    assert stored(bench) == []


@pytest.mark.parametrize("what", ME)
def test_at_the_first_look_nothing_is_connected(bench: Any, what: str) -> None:
    bench.acme.plays["/me"] = PLAYS[what]
    ended = sign_in(bench)
    assert (ended.status, ended.error_code) == ("failed", "provider_unavailable")
    assert ME[what] in str(ended.error_sentence) and one_sentence(ended.error_sentence)
    assert stored(bench) == []


@pytest.mark.parametrize("what", TOKEN)
def test_at_a_refresh_the_account_retries_and_recovers(bench: Any, what: str) -> None:
    account = bench.connect()
    bench.acme.plays["/token"] = PLAYS[what]
    bench.clock.advance(2 * HOUR)
    with pytest.raises(UpstreamFailed):
        credentials.ensure_fresh(bench.service, account)
    after = again(bench, account)
    assert (after.healthy, after.dead, after.failures) == (False, False, 1)
    assert TOKEN[what] in str(after.error) and one_sentence(after.error)
    assert after.next_refresh_at is not None and after.next_refresh_at > bench.clock()
    assert credentials.read(bench.service, after) == credentials.read(bench.service, account)
    bench.acme.plays.clear()
    bench.clock.advance(HOUR)
    healed = credentials.refresh(bench.service, again(bench, account))
    assert (healed.healthy, healed.error, healed.failures) == (True, None, 0)


@pytest.mark.parametrize("what", ME)
def test_at_a_check_the_account_retries_and_recovers(bench: Any, what: str) -> None:
    account = bench.connect()
    bench.acme.plays["/me"] = PLAYS[what]
    after = health.check(bench.service, account)
    assert (after.healthy, after.dead) == (False, False)
    assert ME[what] in str(after.error) and one_sentence(after.error)
    bench.acme.plays.clear()
    healed = health.check(bench.service, after)
    assert (healed.healthy, healed.error) == (True, None)


def test_a_redirect_to_a_private_address_is_not_followed(bench: Any, forbidden: Callable[[], int]) -> None:
    elsewhere = answer(b"", 302, Location=f"http://127.0.0.1:{forbidden()}/latest/meta-data")
    account = bench.connect()
    for path, code, words in (
        ("/token", "provider_rejected", "answered with status 302. Ask the operator"),
        ("/me", "provider_unavailable", "answered with status 302. Try again later"),
    ):
        bench.acme.plays = {path: elsewhere}
        ended = sign_in(bench)
        assert (ended.status, ended.error_code) == ("failed", code)
        assert words in str(ended.error_sentence)
    assert [one.id for one in stored(bench)] == [account.id]
    checked = health.check(bench.service, account)
    assert (checked.healthy, checked.dead) == (False, False) and "status 302" in str(checked.error)
    bench.acme.plays = {"/token": elsewhere}
    bench.clock.advance(2 * HOUR)
    with pytest.raises(UpstreamFailed, match="status 302"):
        credentials.ensure_fresh(bench.service, account)
    after = again(bench, account)
    assert (after.healthy, after.dead) == (False, False) and "status 302" in str(after.error)


@pytest.mark.parametrize("iss", ["https://evil.example", "", None], ids=["wrong", "empty", "missing"])
def test_an_answer_of_another_issuer_is_refused_before_the_code_goes_anywhere(
    bench: Any, open_bench: Callable[[], Any], iss: str | None
) -> None:
    path = bench.service.settings.data / "apps" / "acme" / "app.toml"
    issued = APP_TOML.replace("[oauth]\n", '[oauth]\nissuer = "{origin}"\niss_required = true\n')
    path.write_text(issued.replace("{origin}", bench.acme.origin))
    strict, returned = open_bench(), {} if iss is None else {"iss": iss}
    ended = sign_in(strict, **returned)
    assert (ended.status, ended.error_code) == ("failed", "provider_rejected")
    assert ended.error_sentence == "The answer did not come from the one that was asked. Start connecting again."
    assert bench.acme.token_calls == 0 and stored(bench) == []
    assert sign_in(strict, iss=bench.acme.origin).status == "connected"


NAMES = {
    "script": ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    "an image": ('"><img src=x onerror=alert(1)>', '"><img src=x onerror=alert(1)>'),
    "NUL": ("Ada\0Lovelace", "Ada Lovelace"),
    "lines": ("Ada\r\nSet-Cookie: a=b\u2028x", "Ada Set-Cookie: a=b x"),
    "overrides": ("\u202egnp.exe\u202c\u2066x\u2069", "gnp.exex"),
    "half a character": ("\ud800Ada", "Ada"),
    "900 kB": ("x" * 900_000, "x" * 199 + "…"),
    "nothing to see": ("\0\u202e", "u1"),
    "a number": (7, "7"),
    "an object": ({"first": "Ada"}, "u1"),
}


@pytest.mark.parametrize("what", NAMES)
def test_a_hostile_name_is_bounded_stored_printable_and_shown_escaped(bench: Any, what: str) -> None:
    given, kept = NAMES[what]
    bench.acme.identity = {"id": "u1", "name": given}
    ended, page = walk(bench)
    assert ended.status == "connected", ended.error_sentence
    assert str(escape(kept)) in page and "<script>alert" not in page and "<img src=x" not in page
    (account,) = stored(bench)
    assert account.identity_name == kept and account.healthy
    assert json.loads(accounts_dump(bench, account))["identity"]["name"] == kept
    bench.acme.identity = {"id": "u2", "name": "Eve"}
    with pytest.raises(WrongAccount) as refused:
        bench.connect(account_id=account.id)
    assert kept in refused.value.message and len(refused.value.message) < 500
    (entry,) = history.of_account(bench.service.store, account.id, cursors.Window()).items
    assert entry.sentence == f"Connected as {kept}."


def accounts_dump(bench: Any, account: Account) -> bytes:
    """The account as the API and the dashboard see it."""
    return orjson.dumps(accounts.to_json(bench.service, account, extensions=True))


@pytest.mark.parametrize(
    ("given", "kept"),
    [("\ud800u\0 1", "u 1"), (12345678901234567890, "12345678901234567890"), ("i" * 900_000, "i" * 499 + "…"),
     ("\0\u202e", None), (None, None), ({"a": 1}, None), (True, None)],
    ids=["broken", "a big number", "900 kB", "invisible", "null", "an object", "true"],
)  # fmt: skip
def test_a_hostile_id_is_cleaned_or_left_out(bench: Any, given: object, kept: str | None) -> None:
    bench.acme.identity = {"id": given, "name": "Ada"}
    account = bench.connect()
    assert (account.identity_id, account.healthy) == (kept, True)
    assert accounts_dump(bench, account)


def test_a_reconnect_that_names_nobody_does_not_take_the_account(bench: Any) -> None:
    account = bench.connect()
    bench.acme.identity = {"name": "Ada"}
    with pytest.raises(ProviderDown, match="Acme did not say whose account you signed in to") as refused:
        bench.connect(account_id=account.id, access_token="a9")
    assert one_sentence(refused.value.message) and "Ada" in refused.value.message
    assert credentials.read(bench.service, again(bench, account))["oauth_access_token"] == "a0"


def test_an_identity_of_more_than_a_megabyte_is_not_read(bench: Any) -> None:
    bench.acme.identity = {"id": "u1", "name": "x" * 1_100_000}
    with pytest.raises(ProviderDown, match="more than 1,048,576 bytes"):
        bench.connect()
    assert stored(bench) == []


def test_a_provider_that_does_not_say_when_its_token_expires(bench: Any) -> None:
    account = bench.connect(expires_in=None)
    assert (account.healthy, account.expires_at, account.next_refresh_at) == (True, None, None)
    bench.clock.advance(30 * 24 * HOUR)
    assert credentials.ensure_fresh(bench.service, account) == account and bench.acme.token_calls == 0
    refusals = iter([401])
    bench.acme.plays["/me"] = lambda handler: answer(b'{"id": "u1"}', next(refusals, 200))(handler)
    bench.acme.expires_in = None
    after = health.check(bench.service, account)  # the token did expire: it is refreshed, and the account works
    assert (after.healthy, after.dead, after.error, after.expires_at) == (True, False, None, None)
    assert bench.acme.token_calls == 1 and after.last_refreshed_at == bench.clock()


@pytest.mark.parametrize("value", ["0", "-1", '"soon"', "null", "1e999", "true", "[]", "9" * 400])
def test_a_senseless_expiry_is_as_good_as_none(bench: Any, value: str) -> None:
    token = f'{{"access_token": "a0", "token_type": "bearer", "refresh_token": "r0", "expires_in": {value}}}'
    bench.acme.plays["/token"] = answer(token.encode())
    assert sign_in(bench).status == "connected"
    (account,) = stored(bench)
    assert account.healthy
    far = account.expires_at is not None and account.expires_at - bench.clock() > 300 * 24 * HOUR
    assert account.expires_at is None or far
    assert credentials.due(bench.service, 10) == []


def test_a_rotated_refresh_token_replaces_the_old_one_and_an_absent_one_leaves_it(bench: Any) -> None:
    account, held = bench.connect(), []
    for bench.acme.send_refresh in (True, False, True):
        bench.clock.advance(HOUR)
        account = credentials.ensure_fresh(bench.service, account)
        held.append(credentials.read(bench.service, account)["oauth_refresh_token"])
    assert held == ["r1", "r1", "r3"] and account.healthy and not bench.acme.dead


def test_without_any_refresh_token_the_account_works_to_its_end_and_then_says_what_to_do(bench: Any) -> None:
    token = b'{"access_token": "a0", "token_type": "bearer", "expires_in": 3600}'
    bench.acme.plays["/token"] = answer(token)
    assert sign_in(bench).status == "connected"
    (account,) = stored(bench)
    assert account.healthy and account.next_refresh_at == account.expires_at
    bench.clock.advance(2 * HOUR)
    with pytest.raises(Refused):
        credentials.ensure_fresh(bench.service, account)
    after = again(bench, account)
    assert (after.healthy, after.dead, after.next_refresh_at) == (False, True, None)
    assert after.error == "The access has expired and Acme gave no way to renew it. Reconnect the account."


def test_a_hostile_refresh_token_is_not_kept(bench: Any) -> None:
    account = bench.connect()
    bench.acme.token_body = json.dumps({"access_token": "a1", "refresh_token": "r" * 20_000}).encode()
    bench.clock.advance(HOUR)
    after = credentials.ensure_fresh(bench.service, account)
    assert after.healthy and credentials.read(bench.service, after)["oauth_refresh_token"] == "r0"


def test_hostile_scopes_are_left_out(bench: Any) -> None:
    scopes = ["read", "write", "\ud800", "a\0b", "<b>", 'q"q', "x" * 10_000, 5, None]
    token = {"access_token": "a0", "token_type": "bearer", "scope": scopes}
    bench.acme.plays["/token"] = answer(json.dumps(token).encode())
    assert sign_in(bench).status == "connected"
    (account,) = stored(bench)
    assert account.authorized_scopes == ("read", "write", "<b>")
    assert b"read" in accounts_dump(bench, account)


def test_a_hostile_error_code_is_not_repeated(bench: Any) -> None:
    body = json.dumps({"error": "<script>alert(1)</script>", "error_description": "x" * 5_000}).encode()
    bench.acme.plays["/token"] = answer(body, 400)
    ended = sign_in(bench)
    assert (ended.status, ended.error_code) == ("failed", "provider_rejected")
    assert ended.error_sentence == "Acme refuses this installation's OAuth client. Ask the operator to check it."
    account = bench.connect()
    bench.clock.advance(2 * HOUR)
    with pytest.raises(UpstreamFailed):
        credentials.ensure_fresh(bench.service, account)
    assert (again(bench, account).dead, again(bench, account).error) == (False, ended.error_sentence)
