"""The proxy's rules before anything is sent: the app's own hosts alone, the credential put in and never replaced."""

import io
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from webapp.errors import Forbidden, Invalid, Refused
from webapp.service.domain.accounts import account_state
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import proxy
from webapp.service.domain.components.proxy import ProxyRequest
from webapp.service.outbound.placements import Applied
from webapp.service.outbound.transport import Upload

Plant = Callable[..., Account]


def upload(raw: bytes) -> Upload:
    return Upload(io.BytesIO(raw), len(raw))


def test_the_credential_goes_to_the_app_and_the_caller_cannot_replace_it(
    service: Service, plant: Plant, provider: Any
) -> None:
    answer = proxy.send(service, plant(), ProxyRequest("GET", "/me", headers={"X-Api-Key": "stolen"}))
    assert (answer.status, b"".join(answer.blocks())) == (200, b'{"id": "u-1", "name": "Ada"}')
    assert provider.calls == ["/me"]


@pytest.mark.parametrize(
    "target",
    [
        "https://example.com/me",
        "http://127.0.0.1:1/me",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "http://user:password@127.0.0.1/",
        "https://",
    ],
)
def test_nothing_is_sent_anywhere_else(service: Service, plant: Plant, provider: Any, target: str) -> None:
    with pytest.raises((Forbidden, Invalid)):
        proxy.send(service, plant(), ProxyRequest("GET", target))
    assert provider.calls == []


def test_an_app_without_a_base_address_needs_a_whole_one(service: Service, plant: Plant) -> None:
    given = replace(proxy._grant(service, plant()), base_url=None)
    with pytest.raises(Invalid, match="begin it with https://"):
        proxy._absolute(given, "/me")
    assert proxy._absolute(given, "https://api.example/me") == "https://api.example/me"


def test_the_query_of_the_credential_stands_alone() -> None:
    credential = Applied(params={"token": "canary"}, headers={}, body={})
    url = proxy._with_query("https://a.example/x?a=1&to%6ben=own", [("token", "own"), ("b", "2")], credential)
    assert url == "https://a.example/x?a=1&b=2"


@pytest.mark.parametrize(
    ("media", "raw", "body"),
    [
        ("application/json; charset=utf-8", b'{"a": 1, "key": "own"}', b'{"a":1,"key":"canary"}'),
        ("application/x-www-form-urlencoded", b"a=1&key=own&b=", b"a=1&b=&key=canary"),
    ],
)
def test_a_credential_in_the_body_takes_the_place_of_the_callers(media: str, raw: bytes, body: bytes) -> None:
    credential = Applied(params={}, headers={}, body={"key": "canary"})
    request = ProxyRequest("POST", "/x", headers={"content-type": media}, body=upload(raw))
    assert proxy._body(request, credential) == body


@pytest.mark.parametrize(
    ("media", "raw"), [("application/json", b"[1]"), ("application/json", b"{"), ("text/plain", b"x")]
)
def test_a_body_that_cannot_hold_the_credential_is_refused(media: str, raw: bytes) -> None:
    credential = Applied(params={}, headers={}, body={"key": "canary"})
    with pytest.raises(Invalid) as refusal:
        proxy._body(ProxyRequest("POST", "/x", headers={"content-type": media}, body=upload(raw)), credential)
    assert "canary" not in str(refusal.value)


def test_a_token_that_ended_early_is_renewed_and_the_request_sent_once_more(bench: Any) -> None:
    account = bench.connect(expires_in=None)
    seen: list[tuple[str, bytes]] = []

    def play(request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        seen.append((request.headers["Authorization"], body))
        request.send_response(200 if request.headers["Authorization"] == "Bearer a1" else 401)
        request.send_header("Content-Length", "2")
        request.end_headers()
        request.wfile.write(b"{}")

    bench.acme.plays.update({"/me": play, "/things": play})
    answer = proxy.send(bench.service, account, ProxyRequest("GET", "/things"))
    assert (answer.status, b"".join(answer.blocks())) == (200, b"{}")
    assert [token for token, _ in seen] == ["Bearer a0", "Bearer a0", "Bearer a1", "Bearer a1"]
    assert bench.acme.token_calls == 1


def test_an_account_that_is_refused_for_good_is_to_be_reconnected(
    service: Service, plant: Plant, provider: Any
) -> None:
    account = plant(values={"api_key": "wrong"}, name="Work")
    with pytest.raises(Refused, match="account Work no longer works; reconnect it"):
        proxy.send(service, account, ProxyRequest("GET", "/me"))
    with service.store.write() as tx:
        assert account_state.reread(tx, account).dead


def test_a_small_body_can_be_sent_twice_and_a_large_one_once() -> None:
    small, again = proxy._replayable(ProxyRequest("POST", "/x", body=upload(b"abc")))
    assert small.body is not None
    assert (again, small.body.source.read(), small.body.length) == (True, b"abc", 3)
    large = ProxyRequest("POST", "/x", body=Upload(io.BytesIO(), proxy.REPLAYED + 1))
    assert proxy._replayable(large) == (large, False)
