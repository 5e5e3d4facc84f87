"""OAuth 1.0a against a small provider on loopback: what is signed and by what, and what an answer means."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.declared.oauth1 import members
from webapp.service.outbound import oauth1
from webapp.service.outbound.oauth import Provider, TokenResult
from webapp.service.outbound.oauth1 import Temporary
from webapp.service.outbound.oauth_failures import OAuthFailure

CALLBACK = "http://localhost:8600/connect/oauth/callback/acme?state=s"
TEMPORARY = Temporary("hh5s93j4hdidpola", "hdhd0244k9j7ao03")


def answer(body: str, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def provider_at(url: str, **facts: Any) -> Provider:
    addresses: dict[str, Any] = {"request_token_url": f"{url}/request", "token_url": f"{url}/token"}
    return Provider(authorize_url="https://p.test/allow", client_id="k", client_secret="se&cret", **addresses, **facts)


def signed(request: bytes) -> dict[str, str]:
    headers = dict(line.split(": ", 1) for line in request.decode().split("\r\n")[1:] if ": " in line)
    return members(headers["Authorization"])


def test_a_sign_in_begins_with_the_address_to_come_back_to(peer: Any, reach: Any) -> None:
    target = peer(answer("oauth_token=hh5s&oauth_token_secret=hdhd&oauth_callback_confirmed=true"))
    assert oauth1.begin(reach(target), provider_at(target.url), CALLBACK) == Temporary("hh5s", "hdhd")
    (request,) = target.requests
    said = signed(request)
    assert request.startswith(b"POST /request ")
    assert (said["oauth_consumer_key"], said["oauth_callback"], said["oauth_signature_method"]) == (
        "k", CALLBACK, "HMAC-SHA1",
    )  # fmt: skip
    assert b"se&cret" not in request and "oauth_token" not in said
    assert "hdhd" not in repr(TEMPORARY)


def test_the_person_is_sent_with_the_token_only(peer: Any) -> None:
    provider = provider_at("https://p.test", extra_authorize_params={"name": "Acme"}, scope_separator=",")
    place = urlsplit(oauth1.authorization_url(provider, TEMPORARY, ["read", "write"]))
    assert parse_qs(place.query) == {"oauth_token": [TEMPORARY.token], "name": ["Acme"], "scope": ["read,write"]}
    assert (place.netloc, place.path) == ("p.test", "/allow")
    assert "scope" not in oauth1.authorization_url(provider, TEMPORARY, [])


def test_the_token_is_signed_for_by_both_secrets_and_the_verifier(peer: Any, reach: Any) -> None:
    target = peer(answer("oauth_token=nnch&oauth_token_secret=pfkk&user_id=7"))
    result = oauth1.exchange(reach(target), provider_at(target.url), TEMPORARY, "473f82d3")
    assert isinstance(result, TokenResult)
    assert (result.access_token, result.refresh_token, result.expires_in) == ("nnch", None, None)
    assert result.raw == {"oauth_token": "nnch", "oauth_token_secret": "pfkk", "user_id": "7"}
    said = signed(target.requests[0])
    assert (said["oauth_token"], said["oauth_verifier"]) == (TEMPORARY.token, "473f82d3")


@pytest.mark.parametrize(
    ("raw", "begun", "exchanged"),
    [
        (answer("no", "401 Unauthorized"), "misconfigured", "grant_dead"),
        (answer("later", "503 Service Unavailable"), "temporary", "temporary"),
        (answer("slow", "429 Too Many Requests"), "temporary", "temporary"),
        (answer("<html>"), "temporary", "temporary"),
        (answer("oauth_token=a"), "temporary", "temporary"),
        (answer("oauth_token=a&oauth_token_secret=b"), "misconfigured", None),
    ],
)
def test_what_an_answer_means(peer: Any, reach: Any, raw: bytes, begun: str, exchanged: str | None) -> None:
    target = peer(raw)
    first = oauth1.begin(reach(target), provider_at(target.url), CALLBACK)
    assert isinstance(first, OAuthFailure) and first.kind == begun
    last = oauth1.exchange(reach(target), provider_at(target.url), TEMPORARY, "v")
    assert (last.kind if isinstance(last, OAuthFailure) else None) == exchanged
