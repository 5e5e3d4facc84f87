"""Key accounts whose fields are exchanged for a session: kept sealed, renewed once for all, dead when refused for good;
and those whose key signs each request."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs

import pytest

from webapp.errors import Refused, UpstreamFailed
from webapp.kit.clock import HOUR, MINUTE
from webapp.service.domain.accounts import accounts, connecting, credentials, health
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.failures import CredentialsRefused, ProviderDown
from webapp.service.domain.components import grants, proxying
from webapp.service.domain.components.proxying import ProxyRequest
from webapp.service.domain.projects import projects
from webapp.service.outbound.signing import SigV4
from webapp.service.outbound.transport import Message, Upload
from webapp.service.outbound.urls import Url, parse_url

FIELDS = {"user": "ada", "password": "canary-password"}


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


def connect(bench: Any, slug: str = "acmekeys", **fields: str) -> Account:
    return connecting.connect_with_keys(bench.service, bench.token(), bench.service.app(slug), {**FIELDS, **fields})


def reread(bench: Any, account: Account) -> Account:
    return accounts.get(bench.service.store, bench.scene, account.id)


def test_fields_are_exchanged_before_they_are_kept(bench: Any, door: Door) -> None:
    account = connect(bench)
    assert credentials.read(bench.service, account) == {**FIELDS, "session_token": "canary-session-1", "site": "eu"}
    assert (account.identity_id, account.expires_at) == ("u1", bench.clock() + HOUR)
    assert account.next_refresh_at == bench.clock() + 55 * MINUTE
    assert b"canary" not in (account.credentials_sealed or b"canary")


def test_twenty_callers_of_an_expired_session_begin_one(bench: Any, door: Door, open_bench: Callable[[], Any]) -> None:
    account, other = connect(bench), open_bench()
    bench.clock.advance(HOUR)
    gate = threading.Barrier(20)

    def use(index: int) -> str:
        gate.wait()
        service = (bench if index % 2 else other).service
        return credentials.read(service, credentials.ensure_fresh(service, account))["session_token"]

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(use, range(20))) == {"canary-session-2"}
    assert door.begun == 2


def test_a_session_that_ends_early_is_renewed_in_the_middle_of_a_call(bench: Any, door: Door) -> None:
    account = connect(bench)
    door.ended = 1
    answer = proxying.send(bench.service, account, ProxyRequest("GET", "/me"))
    assert (answer.status, b"".join(answer.blocks())) == (200, b'{"id": "u1", "name": "Ada"}')
    assert credentials.read(bench.service, reread(bench, account))["session_token"] == "canary-session-2"


def test_a_password_that_was_changed_makes_the_account_dead_and_an_outage_does_not(bench: Any, door: Door) -> None:
    account = connect(bench)
    bench.clock.advance(HOUR)
    door.status = 503
    with pytest.raises(UpstreamFailed):
        credentials.ensure_fresh(bench.service, account)
    assert not reread(bench, account).dead
    door.status, door.password = 200, "another"
    bench.clock.advance(HOUR)
    with pytest.raises(Refused):
        credentials.ensure_fresh(bench.service, reread(bench, account))
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
        connect(bench)
    assert bench.service.store.one("SELECT 1 FROM accounts") is None


def test_a_project_that_asks_for_no_test_keeps_them_and_begins_later(bench: Any, door: Door) -> None:
    project = projects.get(bench.service.store, bench.scene.project_id)
    projects.update(bench.service, project, connect_require_key_auth_test=False)
    door.status = 503
    account = connect(bench)
    assert not account.healthy
    door.status = 200
    bench.clock.advance(HOUR)
    after = health.check(bench.service, account)
    assert (after.healthy, credentials.read(bench.service, after)["session_token"]) == (True, "canary-session-1")


def test_a_component_gets_the_session_and_not_what_it_was_got_for(bench: Any, door: Door) -> None:
    granted = grants.grant_accounts(bench.service, {"account": connect(bench)}, "acmekeys").accounts["account"]
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
    account = connect(bench, "acmesigned", **keys)
    body = Upload(BytesIO(b'{"text": "hello"}'), 17)
    params, headers = [("b", "/"), ("a", "x y")], {"Content-Type": "application/json", "Authorization": "stolen"}
    answer = proxying.send(bench.service, account, ProxyRequest("POST", "/signed", params, headers, body))
    assert answer.status == 200
    (message,) = heard
    time = datetime.strptime(message.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    again = SigV4("AKID", "canary-key", "eu-west-1", "s3", "canary-temporary", clock=lambda: time)(message)
    assert isinstance(again, Message)
    assert message.headers["Authorization"] == again.headers["Authorization"]
    assert b"canary-key" not in repr(message.headers).encode()
