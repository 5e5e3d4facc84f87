"""Signed statements of accounts: what they say, the keys they take, and what is said of those that are none.

Sessions against a small server on loopback: client credentials, a signed statement, a log-in; and refusals.
"""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from webapp.service.outbound.key_sessions import AssertionSpec, SessionSpec, begin, pem, sign
from webapp.service.outbound.oauth import TokenResult
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.placements import Placement
from webapp.service.outbound.templates import TemplateError

EC = ECKey.generate_key("P-256")
FILE = EC.as_pem(private=True).decode()
FIELDS = {"id": "client", "secret": "canary-s3cret", "user": "ada", "password": "canary-pa+ss"}
BASIC = (Placement("basic", username="{id}", password="{secret}"),)
CLIENT = {"form": {"grant_type": "client_credentials"}, "placements": BASIC}
KEY = ECKey.generate_key("P-256")
STATEMENT = AssertionSpec("ES256", "key", claims={"iss": "{id}"})


def statement(key: str, algorithm: Any = "ES256", **options: Any) -> str:
    fields = {"key": key, "email": "robot@example.com", "kid": "k1"}
    headers = {"kid": "{kid}", "x": "{missing}"}
    return sign(algorithm, "key", headers, {"iss": "{email}", "sub": "{missing}"}, fields, **options)


@pytest.mark.parametrize(
    "text",
    [
        FILE,
        FILE.replace("\n", ""),
        FILE.replace("\n", " "),
        FILE.replace("\n", "\r\n"),
        json.dumps({"private_key": FILE, "client_email": "robot@example.com"}),
        f"  {FILE}  ",
    ],
    ids=["file", "one line", "spaces", "windows", "json", "spaces around"],
)
def test_a_key_is_taken_as_people_have_it(text: str) -> None:
    token = jwt.decode(statement(text, life_s=60), EC, algorithms=["ES256"])
    assert (token.header["kid"], token.header["alg"], "x" in token.header) == ("k1", "ES256", False)
    assert token.claims["iss"] == "robot@example.com"
    assert "sub" not in token.claims
    assert token.claims["exp"] - token.claims["iat"] == 60


def test_the_other_algorithms() -> None:
    plain: RSAKey = RSAKey.generate_key(2048)
    jwt.decode(statement(plain.as_pem(private=True).decode(), "RS256"), plain, algorithms=["RS256"])
    secret = OctKey.import_key(bytes.fromhex("00ff" * 16))
    jwt.decode(statement("00ff" * 16, "HS256", hex_key=True), secret, algorithms=["HS256"])


def locked() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x")).decode()


@pytest.mark.parametrize(
    ("key", "algorithm", "advice"),
    [
        ("canary-not-a-key", "RS256", "Key is not a private key. Paste the whole text"),
        ("", "ES256", "Key is not a private key"),
        (RSAKey.generate_key(2048).as_pem(private=False).decode(), "RS256", "Key is not a private key"),
        (FILE, "RS256", "It must be an RSA key without a passphrase"),
        (FILE.replace("M", "canary", 1), "ES256", "It must be a P-256 key without a passphrase"),
        (ECKey.generate_key("P-384").as_pem(private=True).decode(), "ES256", "It must be a P-256 key"),
        (locked(), "RS256", "It must be an RSA key without a passphrase"),
        ("zz", "HS256", "Key is not a key"),
    ],
)
def test_what_is_no_key_is_refused_with_a_sentence(key: str, algorithm: str, advice: str) -> None:
    with pytest.raises(TemplateError) as refused:
        statement(key, algorithm, hex_key=True)
    assert advice in str(refused.value)
    assert "canary" not in str(refused.value)


def test_no_key_in_a_text_without_one() -> None:
    assert pem("-----BEGIN CERTIFICATE-----x-----END CERTIFICATE-----") is None


def test_a_key_that_would_take_seconds_to_use_is_none() -> None:
    assert pem(f"-----BEGIN PRIVATE KEY-----\n{'A' * 8_100}\n-----END PRIVATE KEY-----") is None


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


def test_a_bad_key_or_a_missing_field_is_reported_without_asking(peer: Any, reach: Any) -> None:
    target = peer(answer({}))
    spec = SessionSpec(f"{target.url}/token", form={"assertion": "{assertion}"}, assertion=STATEMENT)
    for fields, advice in (({**FIELDS, "key": "canary"}, "not a private key"), ({}, "not a private key")):
        result = begin(reach(target), spec, fields)
        assert isinstance(result, OAuthFailure)
        assert (result.kind, advice in result.sentence) == ("grant_dead", True)
    assert target.connections == 0
