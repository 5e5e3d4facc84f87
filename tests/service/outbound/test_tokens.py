"""Token answers are read as providers bend them, and no sentence repeats a provider's own words."""

import json
from typing import Any

import pytest

from webapp.kit.clock import parse_iso
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.tokens import OAuthFailure, TokenResult, read_refusal, read_token


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
def test_an_end_that_is_told_as_a_time(end: Any, expires_in: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Square has it: https://developer.squareup.com/reference/square/o-auth-api/obtain-token."""
    monkeypatch.setattr("webapp.service.outbound.tokens.now", lambda: parse_iso("2035-01-01T00:00:00Z"))
    token = read_token(answer({"access_token": "a", "expires_at": end}))
    assert isinstance(token, TokenResult) and token.expires_in == expires_in


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
