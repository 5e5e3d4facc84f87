"""A provider that answers with anything but what it should: each answer ends in a clear state and one sentence.

At three moments: as the code is exchanged and the person is asked after (connecting), as a token is renewed, and as an
account is looked after. What may pass never kills an account; what was not accepted is never stored.

An app that names its provider by the issuer alone: its addresses are asked for once an hour, then used as others.

Key accounts whose fields are exchanged for a session: kept sealed, renewed once for all, dead when refused for good;
and those whose key signs each request.

Accounts of apps that a package brought are tested by it.
"""

import gzip
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qs, urlencode

import orjson
import pytest
from flask import Flask
from markupsafe import escape

from tests.fakes import mcp_server
from tests.fakes.provider import APP_TOML, Play
from tests.service.catalog.test_spec import BASE, BROUGHT
from tests.service.domain.pieces.planted import plant
from webapp.errors import Refused, UpstreamFailed
from webapp.kit import assets, cursors
from webapp.kit.clock import HOUR, MINUTE
from webapp.service.catalog import variants
from webapp.service.catalog.app import App
from webapp.service.catalog.spec import AppSpec
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.components.executor import Executor
from webapp.service.domain.accounts import (
    account_state,
    accounts,
    attempts,
    connections,
    credentials,
    health,
    oauth_app_checks,
    oauth_apps,
    provider,
    token_refresh,
)
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import Attempt, AttemptRequest
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.failures import CredentialsRefused, ProviderDown, WrongAccount
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants, proxy
from webapp.service.domain.components.proxy import ProxyRequest
from webapp.service.domain.pieces import owner_decisions
from webapp.service.domain.projects import activity, projects
from webapp.service.link import wiring
from webapp.service.link.oauth_start import binding_cookie
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.probe import RefusalRules, RequestSpec
from webapp.service.outbound.request_signing import SigV4
from webapp.service.outbound.templates import TemplateError
from webapp.service.outbound.transport import Message, Upload
from webapp.service.outbound.urls import Url, parse_url

BIG = 100 * 1024 * 1024
PLACE = "/.well-known/oauth-authorization-server"
FIELDS = {"user": "ada", "password": "canary-password"}
AUTH: dict[str, Any] = {
    "type": "CUSTOM_AUTH", "index": 1, "validated": True, "hosts": ["{server}"],
    "fields": {"key": {"field": "token"}, "baseUrl": {"field": "server"}},
}  # fmt: skip
VALUES = {"token": "t0psecret", "server": "https://tasks.acme.example:8443"}


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


def bomb(handler: BaseHTTPRequestHandler) -> None:
    answer(compressed_zeros(), Content_Encoding="gzip")(handler)


@cache
def compressed_zeros() -> bytes:
    return gzip.compress(bytes(BIG), 9)


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
    "a gzip bomb": bomb,
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
    open_attempt, secret = attempts.create(service, bench.token(), AttemptRequest("acme"))
    begun = attempts.start(
        service, secret, scopes=("read", "write"), scope_profile="full", mode="tab",
        oauth_app_id=service.store.one("SELECT id FROM provider_clients WHERE app = 'acme'")["id"],
    )  # fmt: skip
    client = app.test_client()
    client.set_cookie(binding_cookie(service.settings, begun.attempt), begun.binding, domain="localhost", path="/")
    query = urlencode({"state": begun.state, "code": "c0", **returned})
    back = client.get(f"/connect/oauth/callback/acme?{query}", base_url="http://localhost:8600")
    assert back.status_code == 303, back.text
    shown = client.get(back.headers["Location"], base_url="http://localhost:8600")
    return attempts.get(service.store, open_attempt.id), shown.text


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
        token_refresh.ensure_fresh(bench.service, account)
    after = again(bench, account)
    assert (after.healthy, after.dead, after.failures) == (False, False, 1)
    assert TOKEN[what] in str(after.error) and one_sentence(after.error)
    assert after.next_refresh_at is not None and after.next_refresh_at > bench.clock()
    assert credentials.read(bench.service, after) == credentials.read(bench.service, account)
    bench.acme.plays.clear()
    bench.clock.advance(HOUR)
    healed = token_refresh.refresh(bench.service, again(bench, account))
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
        token_refresh.ensure_fresh(bench.service, account)
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
    assert ended.error_sentence == "The response did not come from Acme. Start again."
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
    (entry,) = activity.of_account(bench.service.store, account.id, cursors.Window()).items
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
    assert token_refresh.ensure_fresh(bench.service, account) == account and bench.acme.token_calls == 0
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
    assert account_state.due_for_refresh(bench.service, 10) == []


def test_a_rotated_refresh_token_replaces_the_old_one_and_an_absent_one_leaves_it(bench: Any) -> None:
    account, held = bench.connect(), []
    for bench.acme.send_refresh in (True, False, True):
        bench.clock.advance(HOUR)
        account = token_refresh.ensure_fresh(bench.service, account)
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
        token_refresh.ensure_fresh(bench.service, account)
    after = again(bench, account)
    assert (after.healthy, after.dead, after.next_refresh_at) == (False, True, None)
    assert after.error == "The access has expired and Acme gave no way to renew it. Reconnect the account."


def test_a_hostile_refresh_token_is_not_kept(bench: Any) -> None:
    account = bench.connect()
    bench.acme.token_body = json.dumps({"access_token": "a1", "refresh_token": "r" * 20_000}).encode()
    bench.clock.advance(HOUR)
    after = token_refresh.ensure_fresh(bench.service, account)
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
        token_refresh.ensure_fresh(bench.service, account)
    assert (again(bench, account).dead, again(bench, account).error) == (False, ended.error_sentence)


class Issuer:
    """What the issuer says of itself, and how often it was asked."""

    def __init__(self, acme: Any) -> None:
        self.asked, self.status, self._origin = 0, 200, acme.origin
        acme.plays |= {PLACE: self._tell, "/.well-known/openid-configuration": self._tell}

    def _tell(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked += 1
        endpoints = {
            "authorization_endpoint": "/authorize",
            "token_endpoint": "/token",
            "revocation_endpoint": "/revoke",
        }
        raw = json.dumps({"issuer": self._origin} | {n: self._origin + p for n, p in endpoints.items()}).encode()
        handler.send_response(self.status)
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        handler.wfile.write(raw)


@pytest.fixture
def issuer(bench: Any) -> Issuer:
    return Issuer(bench.acme)


def connect(bench: Any) -> Account:
    client = oauth_apps.add(bench.service, app="acmeissuer", client_id="c", client_secret="s")
    return connections.connect_with_grant(
        bench.service, bench.token(), bench.service.app("acmeissuer"), client, bench.result(),
        requested=("read", "write"), profile="full", fields={}, account_id=None,
    )  # fmt: skip


def test_the_addresses_are_asked_for_once_an_hour(bench: Any, issuer: Issuer) -> None:
    client = oauth_apps.add(bench.service, app="acmeissuer", client_id="c", client_secret="s")
    for _ in range(3):
        named = provider.oauth_provider(bench.service, bench.service.app("acmeissuer"), client, {})
    origin = bench.acme.origin
    urls = named.authorize_url, named.token_url, named.revoke_url
    assert urls == (f"{origin}/authorize", f"{origin}/token", f"{origin}/revoke")
    assert issuer.asked == 1
    bench.clock.advance(HOUR)
    provider.oauth_provider(bench.service, bench.service.app("acmeissuer"), client, {})
    assert issuer.asked == 2


def test_tokens_are_renewed_there_and_an_issuer_that_is_away_is_a_passing_failure(bench: Any, issuer: Issuer) -> None:
    account = connect(bench)
    bench.clock.advance(HOUR)
    issuer.status = 503
    with pytest.raises(UpstreamFailed, match="The issuer does not say where people sign in"):
        token_refresh.ensure_fresh(bench.service, account)
    bench.clock.advance(HOUR)
    issuer.status = 200
    account = token_refresh.ensure_fresh(bench.service, account)
    assert (account.healthy, credentials.read(bench.service, account)["oauth_access_token"]) == (True, "a1")


def test_a_client_is_checked_there(bench: Any, issuer: Issuer) -> None:
    bench.acme.clients = {"c": "s"}
    bench.acme.refused_code = (400, "invalid_grant")
    app = bench.service.app("acmeissuer")
    assert oauth_app_checks.check(bench.service, app, "c", "s", "http://x/").verdict == "known"
    assert oauth_app_checks.check(bench.service, app, "c", "wrong", "http://x/").verdict == "unknown"


def test_without_an_answer_nothing_is_made_up(bench: Any, issuer: Issuer) -> None:
    issuer.status = 404
    client = oauth_apps.add(bench.service, app="acmeissuer", client_id="c", client_secret="s")
    with pytest.raises(TemplateError):
        provider.oauth_provider(bench.service, bench.service.app("acmeissuer"), client, {})


class Door:
    """What stands at ``/session`` and ``/me``: a password gives a session, which is good until it is ended."""

    def __init__(self, acme: Any) -> None:
        self.begun = self.ended = 0
        self.status = 200
        self.password = FIELDS["password"]
        self.answer: dict[str, Any] = {"site": "eu"}
        self._acme, self._lock = acme, threading.Lock()
        acme.plays |= {"/session": self._begin, "/me": self._me}

    def _begin(self, handler: BaseHTTPRequestHandler) -> None:
        form = {name: values[0] for name, values in parse_qs(self._acme.posted.decode()).items()}
        if form != {"user": "ada", "password": self.password}:
            return send(handler, 401, {})
        with self._lock:
            self.begun += self.status == 200
        return send(handler, self.status, {"id": f"canary-session-{self.begun}", **self.answer})

    def _me(self, handler: BaseHTTPRequestHandler) -> None:
        good = handler.headers.get("X-Session") == f"canary-session-{self.begun}" and self.begun > self.ended
        send(handler, 200 if good else 401, {"id": "u1", "name": "Ada"} if good else {})


def send(handler: BaseHTTPRequestHandler, status: int, body: Any) -> None:
    raw = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw)


@pytest.fixture
def door(bench: Any) -> Door:
    return Door(bench.acme)


def connect_by_session(bench: Any, slug: str = "acmekeys", **fields: str) -> Account:
    return connections.connect_with_keys(bench.service, bench.token(), bench.service.app(slug), {**FIELDS, **fields})


def reread(bench: Any, account: Account) -> Account:
    return accounts.get(bench.service.store, bench.scene, account.id)


def test_fields_are_exchanged_before_they_are_kept(bench: Any, door: Door) -> None:
    account = connect_by_session(bench)
    assert credentials.read(bench.service, account) == {**FIELDS, "session_token": "canary-session-1", "site": "eu"}
    assert (account.identity_id, account.expires_at) == ("u1", bench.clock() + HOUR)
    assert account.next_refresh_at == bench.clock() + 55 * MINUTE
    assert b"canary" not in (account.credentials_sealed or b"canary")


def test_twenty_callers_of_an_expired_session_begin_one(bench: Any, door: Door, open_bench: Callable[[], Any]) -> None:
    account, other = connect_by_session(bench), open_bench()
    bench.clock.advance(HOUR)
    gate = threading.Barrier(20)

    def use(index: int) -> str:
        gate.wait()
        service = (bench if index % 2 else other).service
        return credentials.read(service, token_refresh.ensure_fresh(service, account))["session_token"]

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(use, range(20))) == {"canary-session-2"}
    assert door.begun == 2


def test_a_session_that_ends_early_is_renewed_in_the_middle_of_a_call(bench: Any, door: Door) -> None:
    account = connect_by_session(bench)
    door.ended = 1
    answer = proxy.send(bench.service, account, ProxyRequest("GET", "/me"))
    assert (answer.status, b"".join(answer.blocks())) == (200, b'{"id": "u1", "name": "Ada"}')
    assert credentials.read(bench.service, reread(bench, account))["session_token"] == "canary-session-2"


def test_a_password_that_was_changed_makes_the_account_dead_and_an_outage_does_not(bench: Any, door: Door) -> None:
    account = connect_by_session(bench)
    bench.clock.advance(HOUR)
    door.status = 503
    with pytest.raises(UpstreamFailed):
        token_refresh.ensure_fresh(bench.service, account)
    assert not reread(bench, account).dead
    door.status, door.password = 200, "another"
    bench.clock.advance(HOUR)
    with pytest.raises(Refused):
        token_refresh.ensure_fresh(bench.service, reread(bench, account))
    after = health.check(bench.service, reread(bench, account))
    assert (after.dead, "canary" in str(after.error)) == (True, False)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"password": "another"}, CredentialsRefused),
        ({"status": 503}, ProviderDown),
        ({"answer": {}}, ProviderDown),
    ],
)
def test_nothing_is_kept_of_what_brings_no_session(
    bench: Any, door: Door, changes: dict[str, Any], error: type[Exception]
) -> None:
    vars(door).update(changes)
    with pytest.raises(error):
        connect_by_session(bench)
    assert bench.service.store.one("SELECT 1 FROM accounts") is None


def test_a_project_that_asks_for_no_test_keeps_them_and_begins_later(bench: Any, door: Door) -> None:
    project = projects.get(bench.service.store, bench.scene.project_id)
    projects.update(bench.service, project, connect_require_key_auth_test=False)
    door.status = 503
    account = connect_by_session(bench)
    assert not account.healthy
    door.status = 200
    bench.clock.advance(HOUR)
    after = health.check(bench.service, account)
    assert (after.healthy, credentials.read(bench.service, after)["session_token"]) == (True, "canary-session-1")


def test_a_component_gets_the_session_and_not_what_it_was_got_for(bench: Any, door: Door) -> None:
    granted = account_grants.grant(bench.service, {"account": connect_by_session(bench)}, "acmekeys").accounts[
        "account"
    ]
    assert granted.values == {"user": "ada", "session_token": "canary-session-1", "site": "eu"}
    assert "session_token" in (granted.secrets or ())


def test_the_proxy_signs_what_it_sends(bench: Any) -> None:
    """The provider makes the signature again from what arrived, with the key that it knows."""
    heard: list[Message] = []

    def hear(handler: BaseHTTPRequestHandler) -> None:
        url = parse_url(f"{bench.acme.origin}{handler.path}")
        assert isinstance(url, Url)
        heard.append(Message(handler.command, url, dict(handler.headers), bench.acme.posted))
        send(handler, 200, {})

    bench.acme.plays["/signed?a=x%20y&b=%2F"] = hear
    keys = {"access_key_id": "AKID", "secret_access_key": "canary-key", "session_token": "canary-temporary"}
    account = connect_by_session(bench, "acmesigned", **keys)
    body = Upload(BytesIO(b'{"text": "hello"}'), 17)
    params, headers = [("b", "/"), ("a", "x y")], {"Content-Type": "application/json", "Authorization": "stolen"}
    answer = proxy.send(bench.service, account, ProxyRequest("POST", "/signed", params, headers, body))
    assert answer.status == 200
    (message,) = heard
    time = datetime.strptime(message.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    again = SigV4("AKID", "canary-key", "eu-west-1", "s3", "canary-temporary", clock=lambda: time)(message)
    assert isinstance(again, Message)
    assert message.headers["Authorization"] == again.headers["Authorization"]
    assert b"canary-key" not in repr(message.headers).encode()


def brought(**auth: Any) -> App:
    fields = variants.whole(
        {**BROUGHT, "piece": {**BROUGHT["piece"], "auth": {**AUTH, **auth}, "hosts": ["a.example"]}}, BASE
    )
    fields["fields"] = [*fields["fields"], {"name": "server", "label": "Server"}]
    spec = AppSpec.model_validate(fields)
    return cast("App", SimpleNamespace(spec=spec, name=spec.name, test_kind="piece"))


class Asked:
    """As much of a service as is needed: an executor that answers with ``reply``, and keeps what it was asked."""

    def __init__(self, reply: Reply) -> None:
        self.reply, self.questions = reply, list[Any]()
        self.executor = self
        self.settings = SimpleNamespace(data=Path("/data"), allow_hosts=("10.0.0.1",))
        self.store = SimpleNamespace(tuples=lambda *_: [('["a.example"]',)])

    def ask_package(self, question: Any) -> Reply:
        self.questions.append(question)
        return self.reply


def checked(reply: Reply, app: App) -> tuple[tuple[str, str], list[Any]]:
    service = Asked(reply)
    return provider.check_by_piece(cast("Service", service), app, VALUES), service.questions


def test_it_is_asked_with_the_account_as_the_piece_has_it_and_its_own_hosts() -> None:
    answer, (question,) = checked(Reply({"valid": True}), brought())
    assert answer == ("ok", "")
    assert (question.name, question.method) == ("@acme/piece-acme", "validate")
    assert question.folder == Path("/data/pieces/packages/piece-acme/0.2.0")
    assert question.fields == {
        "auth": {"type": "CUSTOM_AUTH", "props": {"key": "t0psecret", "baseUrl": "https://tasks.acme.example:8443"}},
        "index": 1,
    }
    assert (question.hosts, question.allow_hosts) == (("a.example", "tasks.acme.example:8443"), ("10.0.0.1",))
    assert question.mask == ("t0psecret",)


def test_each_question_has_a_process_of_its_own() -> None:
    users = {checked(Reply({"valid": True}), brought())[1][0].user for _ in range(2)}
    assert len(users) == 2
    assert "" not in users


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (Reply({"valid": False, "error": "Invalid  key\n"}), ("refused", "Invalid key")),
        (Reply({"valid": True}, refused_hosts=("b.example",)), ("ok", "")),
        (Reply({"valid": False}), ("refused", "Acme (token) did not accept this. Check it, and try again.")),
        (Reply(None), ("refused", "Acme (token) did not accept this. Check it, and try again.")),
        (Reply(None, error=ErrorInfo("timeout", "T", "The provider is slow.")), ("trouble", "Acme (token) is slow.")),
        (
            Reply({"valid": False}, refused_hosts=("b.example",)),
            (
                "trouble",
                "Acme (token) asked for b.example, which its owner does not let it reach. Ask them to allow it.",
            ),
        ),
    ],
)
def test_what_it_says_is_reported(reply: Reply, answer: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[tuple[str, Sequence[str]]] = []
    monkeypatch.setattr(piece_hosts, "note_of", lambda _, package, hosts: noted.append((package, hosts)))
    assert checked(reply, brought())[0] == answer
    assert noted == ([("@acme/piece-acme", ("b.example",))] if reply.refused_hosts else [])


def test_it_may_reach_what_its_owner_lets_it_reach_now(service: Service) -> None:
    piece, asked = plant(service, "acme", hosts=("a.example",)), Asked(Reply(None, refused_hosts=("b.example",)))
    checking = replace(service, executor=cast("Executor", asked))
    kind, sentence = provider.check_by_piece(checking, brought(), VALUES)
    assert (kind, "b.example" in sentence) == ("trouble", True)
    assert [each.host for each in piece_hosts.refused_of(service.store, piece.package)] == ["b.example"]
    owner_decisions.allow(service, piece.id, "b.example")
    asked.reply = Reply({"valid": True})
    assert provider.check_by_piece(checking, brought(), VALUES) == ("ok", "")
    assert asked.questions[1].hosts[:2] == ("a.example", "b.example")


def test_one_that_cannot_tell_is_not_asked() -> None:
    assert checked(Reply(None), brought(validated=False)) == (("ok", ""), [])


def test_the_check_of_an_account_asks_it() -> None:
    service = cast("Service", Asked(Reply({"valid": False, "error": "No."})))
    result = provider.test(service, brought(), VALUES)
    assert (result.kind, result.sentence) == ("refused", "No.")


@pytest.mark.parametrize(
    ("key", "kind", "sentence"),
    [
        ("right", "ok", ""),
        ("wrong", "refused", "Notes does not accept these credentials. Check them, then connect again."),
    ],
)
def test_an_account_of_an_mcp_server_is_tested_by_it(key: str, kind: str, sentence: str) -> None:
    with mcp_server.serving(key="right") as server:
        client = OutboundClient(Guard([server.host]), user_agent="Patchbay-Test")
        spec = RequestSpec(server.url, placements=(Placement("bearer", value="{token}"),), allowed_hosts=(server.host,))
        facts = {"test_kind": "mcp", "name": "Notes", "mcp_request": spec, "refusal_rules": RefusalRules()}
        app, service = SimpleNamespace(**facts), SimpleNamespace(client_for=lambda app: client)
        tested = provider.test(cast("Any", service), cast("App", app), {"token": key})
    assert (tested.kind, tested.sentence) == (kind, sentence)
