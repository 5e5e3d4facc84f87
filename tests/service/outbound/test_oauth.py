"""Token answers are read as providers bend them, and no sentence repeats a provider's own words.

OAuth against a small token endpoint on loopback that plays the quirks providers really have.

The addresses of an authorization server by its own metadata, and metadata that is not taken.
"""

import base64
import json
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from webapp.kit.clock import parse_iso
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.oauth import (
    Provider,
    TokenResult,
    authorization_url,
    check_issuer,
    discover,
    exchange_code,
    read_refusal,
    read_token,
    refresh,
    revoke,
)
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.responses import Response
from webapp.service.outbound.urls import HostRules

VERIFIER = "v" * 43
CALLBACK = "http://localhost:8000/oauth/callback"
Serve = Callable[..., tuple[Any, Any]]


def answer(body: Any, status: int = 200, **headers: str) -> Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status, named, raw, "https://provider.example/token")


def test_a_plain_answer() -> None:
    token = read_token(answer({"access_token": "a", "refresh_token": "r", "expires_in": "3600", "scope": "b,c b"}))
    assert isinstance(token, TokenResult)
    assert (token.access_token, token.refresh_token, token.expires_in) == ("a", "r", 3600)
    assert (token.scopes, token.token_type) == (("b", "c"), "bearer")


@pytest.mark.parametrize(("end", "expires_in"), [("2035-01-01T01:00:00Z", 3600), ("tomorrow", None), (7, None)])
def test_an_end_that_is_reported_as_a_time(end: Any, expires_in: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Square has it: https://developer.squareup.com/reference/square/o-auth-api/obtain-token."""
    monkeypatch.setattr("webapp.service.outbound.oauth.now", lambda: parse_iso("2035-01-01T00:00:00Z"))
    token = read_token(answer({"access_token": "a", "expires_at": end}))
    assert isinstance(token, TokenResult) and token.expires_in == expires_in


@pytest.mark.parametrize(
    ("end", "expires_in"),
    [("2051224200.25", 1800), (2051224200, 1800), ("2051222399", None), ("9" * 30, None), (True, None), ([], None)],
)
def test_an_end_in_epoch_seconds(end: Any, expires_in: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Squarespace has it: https://developers.squarespace.com/commerce-apis/oauth."""
    monkeypatch.setattr("webapp.service.outbound.oauth.now", lambda: parse_iso("2035-01-01T00:00:00Z"))
    token = read_token(answer({"access_token": "a", "access_token_expires_at": end}))
    assert isinstance(token, TokenResult) and token.expires_in == expires_in


def test_the_page_of_a_sign_in_may_be_in_the_fragment_of_its_address() -> None:
    """As https://docs.apollo.io/docs/use-oauth-20-authorization-flow-to-access-apollo-user-information-partners."""
    apollo = Provider("https://app.apollo.io/#/oauth/authorize", "https://app.apollo.io/token", "c", pkce=False)
    url = authorization_url(apollo, redirect_uri=CALLBACK, state="s t", verifier=VERIFIER, scopes=[])
    page, _, query = url.partition("?")
    assert page == "https://app.apollo.io/#/oauth/authorize"
    assert parse_qs(query)["redirect_uri"] == [CALLBACK] and parse_qs(query)["state"] == ["s t"]


def test_a_form_and_a_nested_answer() -> None:
    form = read_token(answer(b"access_token=a&scope=", content_type="application/x-www-form-urlencoded"))
    nested = read_token(answer({"authed_user": {"access_token": "n"}}), token_at="authed_user")
    assert isinstance(form, TokenResult) and (form.access_token, form.refresh_token) == ("a", None)
    assert isinstance(nested, TokenResult) and nested.access_token == "n"


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (answer({"error": "invalid_grant"}, 400), "grant_dead"),
        (answer({"error": "bad_verification_code"}), "grant_dead"),
        (answer({"error": "access_denied"}), "denied"),
        (answer({"error": {"type": "invalid_client"}}, 401), "misconfigured"),
        (answer({"ok": False}), "misconfigured"),
        (answer({"error": "x"}, 503), "temporary"),
        (answer({"access_token": ""}), "temporary"),
        (answer(b"<html>", 404), "misconfigured"),
        (Failure("timeout", "Too slow."), "temporary"),
        (Failure("tls", "No."), "misconfigured"),
    ],
)
def test_each_refusal_says_what_to_do(outcome: Response | Failure, kind: str) -> None:
    refused = read_token(outcome)
    assert isinstance(refused, OAuthFailure) and refused.kind == kind


def test_a_text_of_the_provider_is_never_repeated() -> None:
    refused = read_refusal(answer({"error": "canary <b>text</b>", "error_description": "canary"}, 400))
    assert refused is not None and "canary" not in refused.sentence and refused.error_code is None
    assert read_refusal(answer({})) is None


def token_answer(body: Any, status: str = "200 OK", kind: str = "application/json", *headers: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def provider_at(url: str, **facts: Any) -> Provider:
    given = {"client_id": "id", "client_secret": "se+cret:1", "authorize_url": f"{url}/authorize"}
    return Provider(**{**given, "token_url": f"{url}/token", "revoke_url": f"{url}/revoke", **facts})


@pytest.fixture
def exchanged(peer: Any, reach: Any) -> Callable[..., Any]:
    def run(raw: bytes, **facts: Any) -> Any:
        target = peer(raw)
        run.requests = target.requests  # type: ignore[attr-defined]
        return exchange_code(
            reach(target),
            provider_at(target.url, **facts),
            code="c0de",
            redirect_uri=CALLBACK,
            verifier=VERIFIER,
        )

    return run


def form_of(request: bytes) -> dict[str, list[str]]:
    return parse_qs(request.split(b"\r\n\r\n")[1].decode())


def test_the_authorization_url_has_pkce_state_and_the_exact_redirect() -> None:
    provider = provider_at("https://p.test", extra_authorize_params={"access_type": "offline"})
    url = authorization_url(
        provider, redirect_uri=CALLBACK, state="s&1", verifier=VERIFIER, scopes=["a", "b"], extra={"prompt": "consent"}
    )
    assert url.startswith("https://p.test/authorize?")
    assert parse_qs(urlsplit(url).query) == {
        "response_type": ["code"],
        "client_id": ["id"],
        "redirect_uri": [CALLBACK],
        "state": ["s&1"],
        "scope": ["a b"],
        "access_type": ["offline"],
        "prompt": ["consent"],
        "code_challenge": [create_s256_code_challenge(VERIFIER)],
        "code_challenge_method": ["S256"],
    }


def test_without_pkce_with_commas_and_another_scope_parameter() -> None:
    provider = provider_at("https://p.test", pkce=False, scope_separator=",", scope_param="user_scope")
    url = authorization_url(provider, redirect_uri=CALLBACK, state="s", verifier=VERIFIER, scopes=["a:r", "b"])
    query = parse_qs(urlsplit(url).query)
    assert query["user_scope"] == ["a:r,b"]
    assert "scope" not in query
    assert "code_challenge" not in query


def test_exchange_sends_the_form_with_basic_authentication(exchanged: Any) -> None:
    result = exchanged(
        token_answer(
            {"access_token": "at", "refresh_token": "rt", "expires_in": 3600, "scope": "a b", "token_type": "Bearer"}
        ),
        extra_token_params={"audience": "x"},
    )
    assert isinstance(result, TokenResult)
    assert (result.access_token, result.refresh_token, result.expires_in) == ("at", "rt", 3600)
    assert (result.scopes, result.token_type) == (("a", "b"), "Bearer")
    assert "at" not in repr(result).replace("at=", "")
    assert form_of(exchanged.requests[0]) == {
        "grant_type": ["authorization_code"],
        "code": ["c0de"],
        "redirect_uri": [CALLBACK],
        "code_verifier": [VERIFIER],
        "audience": ["x"],
    }
    # RFC 6749, 2.3.1: both parts are form-encoded first.
    expected = base64.b64encode(b"id:se%2Bcret%3A1").decode()
    assert f"Authorization: Basic {expected}".encode() in exchanged.requests[0]
    assert b"Accept: application/json" in exchanged.requests[0]


def test_secret_in_the_body_public_client_and_json_body(exchanged: Any) -> None:
    raw = token_answer({"access_token": "at"})
    exchanged(raw, token_auth_method="client_secret_post")
    form = form_of(exchanged.requests[0])
    assert (form["client_id"], form["client_secret"]) == (["id"], ["se+cret:1"])
    assert b"Authorization" not in exchanged.requests[0]
    exchanged(raw, token_auth_method="none", client_secret=None)
    assert form_of(exchanged.requests[0])["client_id"] == ["id"]
    exchanged(raw, json_body=True, pkce=False, token_headers={"X-Version": "2"})
    head, body = exchanged.requests[0].split(b"\r\n\r\n")
    assert json.loads(body) == {"grant_type": "authorization_code", "code": "c0de", "redirect_uri": CALLBACK}
    assert b"Authorization: Basic" in head
    assert b"X-Version: 2" in head


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (3600, 3600),
        ("3600", 3600),
        (" 3600.5 ", 3600),
        (None, None),
        (0, None),
        (-5, None),
        (True, None),
        ("soon", None),
        (10**30, 315360000),
        ([1], None),
        ("1e999", None),
    ],
)
def test_expires_in_in_every_shape(exchanged: Any, given: Any, seconds: int | None) -> None:
    assert exchanged(token_answer({"access_token": "at", "expires_in": given})).expires_in == seconds


@pytest.mark.parametrize(
    ("given", "scopes"),
    [("a b", ("a", "b")), ("a,b", ("a", "b")), (["a", "b", 1], ("a", "b")), ("", ()), (None, None), (5, None)],
)
def test_scopes_in_every_shape(exchanged: Any, given: Any, scopes: Any) -> None:
    assert exchanged(token_answer({"access_token": "at", "scope": given})).scopes == scopes


def test_a_form_encoded_answer(exchanged: Any) -> None:
    raw = token_answer(
        b"access_token=gho_x&scope=repo%2Cgist&token_type=bearer", kind="application/x-www-form-urlencoded"
    )
    result = exchanged(raw)
    assert (result.access_token, result.scopes, result.expires_in) == ("gho_x", ("repo", "gist"), None)


def test_a_nested_token_as_slack_answers_for_a_person(exchanged: Any) -> None:
    body = {
        "ok": True,
        "access_token": "xoxb-bot",
        "team": {"id": "T1", "name": "Acme"},
        "authed_user": {"id": "U1", "scope": "chat:write,users:read", "access_token": "xoxp-1", "token_type": "user"},
    }
    result = exchanged(token_answer(body), token_at="authed_user")
    assert (result.access_token, result.scopes, result.token_type) == (
        "xoxp-1",
        ("chat:write", "users:read"),
        "user",
    )
    assert result.raw["team"]["name"] == "Acme"
    body["authed_user"] = {"id": "U1"}
    assert isinstance(exchanged(token_answer(body), token_at="authed_user"), OAuthFailure)


@pytest.mark.parametrize(
    ("raw", "kind", "code"),
    [
        (token_answer({"error": "invalid_grant"}, "400 Bad Request"), "grant_dead", "invalid_grant"),
        (token_answer({"error": "bad_verification_code", "error_uri": "x"}), "grant_dead", "bad_verification_code"),
        (token_answer({"ok": False, "error": "invalid_code"}), "grant_dead", "invalid_code"),
        (token_answer({"ok": False, "error": "token_gone"}), "grant_dead", "token_gone"),
        (token_answer({"ok": False}), "misconfigured", None),
        (
            token_answer(b"error=incorrect_client_credentials", kind="application/x-www-form-urlencoded"),
            "misconfigured",
            None,
        ),
        (token_answer({"error": "invalid_client"}, "401 Unauthorized"), "misconfigured", "invalid_client"),
        (token_answer({"error": "access_denied"}, "400 Bad Request"), "denied", "access_denied"),
        (token_answer({"error": {"type": "OAuthException", "code": 190}}, "400 Bad Request"), "misconfigured", "190"),
        (token_answer({"error": "invalid_grant"}, "503 Down"), "temporary", "invalid_grant"),
        (token_answer({}, "429 Slow", "application/json", "Retry-After: 7"), "temporary", None),
        (token_answer(b"<html>oops</html>", kind="text/html"), "temporary", None),
        (token_answer(b"<html>oops</html>", "404 Not Found", "text/html"), "misconfigured", None),
        (token_answer(b"<html>oops</html>", "502 Bad Gateway", "text/html"), "temporary", None),
        (token_answer({"token_type": "bearer"}), "temporary", None),
        (token_answer({"access_token": ""}), "temporary", None),
        (token_answer({"access_token": "a\r\nX-Evil: 1"}), "temporary", None),
        (token_answer({"access_token": 5}), "temporary", None),
        (token_answer([1, 2]), "temporary", None),
        (token_answer(b"\xff\xff"), "temporary", None),
        (token_answer(b"x" * 300_000), "temporary", None),
        (token_answer({"error": "<script>" * 20}, "400 Bad Request"), "misconfigured", None),
        (b"HTTP/1.1 307 Away\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "misconfigured", None),
        (b"", "temporary", None),
    ],
)
def test_failures(exchanged: Any, raw: bytes, kind: str, code: str | None) -> None:
    result = exchanged(raw, error_codes={"token_gone": "grant_dead"})
    assert isinstance(result, OAuthFailure)
    assert result.kind == kind
    assert code is None or result.error_code == code
    assert result.sentence.endswith(".")
    assert "<" not in result.sentence
    if b"Retry-After" in raw:
        assert result.retry_after_s == 7


@pytest.mark.parametrize("echo", ["se.cret", "c0de", f"bad_verifier_{VERIFIER}", "unknown:se.cret"])
def test_an_error_code_that_repeats_a_secret_is_not_repeated(exchanged: Any, echo: str) -> None:
    result = exchanged(token_answer({"error": echo}, "400 Bad Request"), client_secret="se.cret")
    assert isinstance(result, OAuthFailure) and result.kind == "misconfigured"
    assert echo not in repr(result)


def test_the_secret_goes_only_to_the_declared_hosts(exchanged: Any) -> None:
    result = exchanged(token_answer({"access_token": "at"}), allowed_hosts=HostRules.of("p.test"))
    assert result.kind == "misconfigured"
    assert exchanged.requests == []


def test_refresh_keeps_the_old_token_unless_a_new_one_comes(peer: Any, reach: Any) -> None:
    answers = iter([token_answer({"access_token": "a2"}), token_answer({"access_token": "a3", "refresh_token": "r3"})])
    target = peer(lambda connection, _: connection.sendall(next(answers)))
    provider = provider_at(
        target.url, token_at="authed_user", extra_token_params={"code_only": 1}, extra_refresh_params={"a": 2}
    )
    first = refresh(reach(target), provider, refresh_token="r1")
    second = refresh(reach(target), provider, refresh_token="r1")
    assert isinstance(first, TokenResult)
    assert isinstance(second, TokenResult)
    assert (first.access_token, first.refresh_token) == ("a2", "r1")
    assert (second.access_token, second.refresh_token) == ("a3", "r3")
    assert form_of(target.requests[0]) == {"grant_type": ["refresh_token"], "refresh_token": ["r1"], "a": ["2"]}


@pytest.mark.parametrize("json_body", [False, True])
def test_tokens_may_be_refreshed_at_another_place(peer: Any, reach: Any, json_body: bool) -> None:
    target = peer(lambda connection, _: connection.sendall(token_answer({"access_token": "a2"})))
    provider = provider_at(target.url, refresh_url=f"{target.url}/refresh", json_body=json_body)
    assert isinstance(refresh(reach(target), provider, refresh_token="r1"), TokenResult)
    assert b"POST" in target.requests[0] and b"/refresh HTTP/1.1" in target.requests[0]


def test_revoke(peer: Any, reach: Any) -> None:
    target = peer(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert revoke(reach(target), provider_at(target.url), token="rt") is None
    assert form_of(target.requests[0]) == {"token": ["rt"], "token_type_hint": ["refresh_token"]}
    assert target.requests[0].startswith(b"POST /revoke ")
    busy = peer(token_answer({}, "503 Down"))
    result = revoke(reach(busy), provider_at(busy.url), token="rt")
    assert result is not None
    assert result.kind == "temporary"
    none = revoke(reach(busy), provider_at(busy.url, revoke_url=None), token="rt")
    assert none is not None
    assert none.kind == "misconfigured"


@pytest.mark.parametrize(
    ("issuer", "required", "iss", "passes"),
    [
        ("https://p.test", True, "https://p.test", True),
        ("https://p.test", True, "https://p.test/", False),
        ("https://p.test", True, "https://evil.test", False),
        ("https://p.test", True, None, False),
        ("https://p.test", False, None, True),
        ("https://p.test", False, "https://evil.test", False),
        (None, False, "https://any.test", True),
        ("https://p.test", True, "https://p.test☃", False),
    ],
)
def test_issuer(issuer: str | None, required: bool, iss: str | None, passes: bool) -> None:
    failure = check_issuer(provider_at("https://p.test", issuer=issuer, iss_required=required), iss)
    assert (failure is None) is passes


def test_a_provider_prints_without_its_secret() -> None:
    assert "se+cret" not in repr(provider_at("https://p.test"))


@pytest.fixture
def serve(peer: Any, reach: Any) -> Serve:
    """A server whose metadata stand at one path; ``{origin}`` in them is its own."""

    def start(path: str, metadata: Any, issuer: str = "{origin}") -> tuple[Any, Any]:
        def script(connection: socket.socket, request: bytes) -> None:
            text = json.dumps(metadata).replace("{origin}", target.url).encode()
            found = request.startswith(f"GET {path} ".encode())
            status = "200 OK" if found else "404 Not Found"
            connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)

        target = peer(script)
        return target, discover(reach(target), issuer.replace("{origin}", target.url))

    return start


def facts(**changes: Any) -> dict[str, Any]:
    endpoints = {"authorization_endpoint": "{origin}/auth", "token_endpoint": "{origin}/token"}
    return {"issuer": "{origin}", **endpoints, **changes}


def test_the_metadata_of_rfc_8414(serve: Serve) -> None:
    target, answer = serve("/.well-known/oauth-authorization-server", facts(revocation_endpoint="{origin}/revoke"))
    origin = target.url
    assert answer == {
        "authorize_url": f"{origin}/auth",
        "token_url": f"{origin}/token",
        "revoke_url": f"{origin}/revoke",
    }


@pytest.mark.parametrize(
    "path", ["/.well-known/oauth-authorization-server/tenant", "/tenant/.well-known/openid-configuration"]
)
def test_an_issuer_with_a_path(serve: Serve, path: str) -> None:
    target, answer = serve(path, facts(issuer="{origin}/tenant"), "{origin}/tenant")
    assert answer == {"authorize_url": f"{target.url}/auth", "token_url": f"{target.url}/token"}


@pytest.mark.parametrize(
    "metadata",
    [
        facts(issuer="https://other.example"),
        facts(token_endpoint=None),
        facts(authorization_endpoint="javascript:alert(1)"),
        facts(token_endpoint=7),
        [],
        "no",
    ],
)
def test_what_is_not_taken(serve: Serve, metadata: Any) -> None:
    _, answer = serve("/.well-known/openid-configuration", metadata)
    assert isinstance(answer, Failure)


def test_a_private_issuer_is_not_asked(reach: Any, connects: list[object]) -> None:
    assert isinstance(discover(reach(), "http://127.0.0.1:1/"), Failure)
    assert connects == []
