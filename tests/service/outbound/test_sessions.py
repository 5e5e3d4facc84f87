"""Sessions against a small server on loopback: client credentials, a signed statement, a log-in; and refusals."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from webapp.service.outbound.sessions import AssertionSpec, SessionSpec, begin
from webapp.service.outbound.templates import Placement
from webapp.service.outbound.tokens import OAuthFailure, TokenResult

FIELDS = {"id": "client", "secret": "canary-s3cret", "user": "ada", "password": "canary-pa+ss"}
BASIC = (Placement("basic", username="{id}", password="{secret}"),)
CLIENT = {"form": {"grant_type": "client_credentials"}, "placements": BASIC}
KEY = ECKey.generate_key("P-256")
STATEMENT = AssertionSpec("ES256", "key", claims={"iss": "{id}"})


def answer(body: Any, status: str = "200 OK") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


@pytest.fixture
def exchange(peer: Any, reach: Any) -> Callable[..., Any]:
    def run(raw: bytes, **facts: Any) -> Any:
        target = peer(raw)
        result = begin(reach(target), SessionSpec(**{"url": f"{target.url}/token", **facts}), FIELDS)
        run.request = target.requests[0] if target.requests else b""  # type: ignore[attr-defined]
        return result

    return run


def test_client_credentials(exchange: Any) -> None:
    result = exchange(answer({"access_token": "t0ken", "expires_in": 120, "app_id": "A"}), **CLIENT)
    assert isinstance(result, TokenResult)
    assert (result.access_token, result.expires_in, result.raw["app_id"]) == ("t0ken", 120, "A")
    head, _, body = exchange.request.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /token ")
    assert base64.b64encode(b"client:canary-s3cret") in head
    assert dict(parse_qsl(body.decode())) == {"grant_type": "client_credentials"}


def test_a_log_in_gives_a_session_where_the_app_says(exchange: Any) -> None:
    body = {"username": "{user}", "password": "{password}"}
    result = exchange(answer({"data": {"id": "s1"}}), json=body, token="data.id", life_s=900)
    assert (result.access_token, result.expires_in) == ("s1", 900)
    assert json.loads(exchange.request.partition(b"\r\n\r\n")[2]) == {"username": "ada", "password": "canary-pa+ss"}


def test_a_signed_statement_is_exchanged(peer: Any, reach: Any) -> None:
    target, fields = peer(answer({"access_token": "t"})), {**FIELDS, "key": KEY.as_pem(private=True).decode()}
    spec = SessionSpec(f"{target.url}/token", form={"assertion": "{assertion}"}, assertion=STATEMENT)
    assert isinstance(begin(reach(target), spec, fields), TokenResult)
    sent = dict(parse_qsl(target.requests[0].partition(b"\r\n\r\n")[2].decode()))
    assert jwt.decode(sent["assertion"], KEY, algorithms=["ES256"]).claims["iss"] == "client"


def test_a_signed_statement_is_the_credential_itself_where_nothing_is_asked(reach: Any) -> None:
    fields = {**FIELDS, "key": KEY.as_pem(private=True).decode()}
    result = begin(reach(), SessionSpec("", assertion=STATEMENT, life_s=600), fields)
    assert isinstance(result, TokenResult)
    assert result.expires_in == 600
    jwt.decode(result.access_token, KEY, algorithms=["ES256"])


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (answer({"error": "invalid_client"}, "401 Unauthorized"), "grant_dead"),
        (answer({"error": "invalid_grant"}, "400 Bad Request"), "grant_dead"),
        (answer({"error": "bad"}), "grant_dead"),
        (answer({"ok": False}), "grant_dead"),
        (answer({}, "503 Service Unavailable"), "temporary"),
        (answer({}, "429 Too Many Requests"), "temporary"),
        (answer({}), "temporary"),
        (answer(b"<html>"), "temporary"),
        (answer({"access_token": "two\r\nlines"}), "temporary"),
        (answer({"access_token": 7}), "temporary"),
        (b"", "temporary"),
        (answer({}, "404 Not Found"), "misconfigured"),
        (answer({}, "302 Found\r\nLocation: http://127.0.0.1:1/"), "misconfigured"),
    ],
)
def test_what_is_refused_and_what_may_pass(exchange: Any, raw: bytes, kind: str) -> None:
    result = exchange(raw, **CLIENT)
    assert isinstance(result, OAuthFailure)
    assert result.kind == kind
    assert "canary" not in repr(result)


def test_a_bad_key_or_a_missing_field_is_told_without_asking(peer: Any, reach: Any) -> None:
    target = peer(answer({}))
    spec = SessionSpec(f"{target.url}/token", form={"assertion": "{assertion}"}, assertion=STATEMENT)
    for fields, advice in (({**FIELDS, "key": "canary"}, "not a private key"), ({}, "not a private key")):
        result = begin(reach(target), spec, fields)
        assert isinstance(result, OAuthFailure)
        assert (result.kind, advice in result.sentence) == ("grant_dead", True)
    assert target.connections == 0
