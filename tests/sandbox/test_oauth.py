"""The authorization server at its token and revocation endpoints, over real HTTP."""

import concurrent.futures
from types import SimpleNamespace

import pytest
import requests

from tests.sandbox.conftest import CALLBACK, CLIENT, OTHER_CALLBACK, Served, query
from webapp.kit.clock import MINUTE
from webapp.sandbox import oauth


@pytest.mark.parametrize(
    ("changes", "error", "status"),
    [
        ({"code_verifier": "w" * 50}, "invalid_grant", 400),
        ({"code_verifier": ""}, "invalid_request", 400),
        ({"redirect_uri": OTHER_CALLBACK}, "invalid_grant", 400),
        ({"client_secret": "wrong"}, "invalid_client", 401),
        ({"client_secret": "ünrecht"}, "invalid_client", 401),
        ({"client_id": "someone-else"}, "invalid_client", 400),
        ({"code": "never-issued"}, "invalid_grant", 400),
        ({"grant_type": "password"}, "unsupported_grant_type", 400),
    ],
)
def test_token_refusals(served: Served, changes: dict[str, str], error: str, status: int) -> None:
    answer = served.token(served.code(), **changes)
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("header", ["Basic", "Basic ", "Basic /////w==", "Basic !", "Bearer x", "\x01"])
def test_broken_authorization_header_is_a_plain_refusal(served: Served, header: str) -> None:
    for path in ("token", "revoke"):
        answer = requests.post(
            f"{served.url}/oauth/{path}",
            data={"grant_type": "refresh_token", "token": "x"},
            headers={"Authorization": header.strip("\x01") or "x"},
            timeout=10,
        )
        assert answer.status_code == 401
        assert answer.json()["error"] == "invalid_client"


def test_code_twice_ends_the_grant(served: Served) -> None:
    code = served.code()
    token = served.token(code).json()
    assert served.api("GET", "me", token["access_token"]).status_code == 200
    assert served.token(code).json()["error"] == "invalid_grant"
    assert served.api("GET", "me", token["access_token"]).status_code == 401
    assert served.refresh(token["refresh_token"]).json()["error"] == "invalid_grant"


def test_code_expires_after_five_minutes(served: Served) -> None:
    code = served.code()
    served.clock.advance(5 * MINUTE)
    assert served.token(code).json()["error"] == "invalid_grant"


def test_refresh_rotates_and_reuse_ends_the_grant(served: Served) -> None:
    first = served.connect()
    second = served.refresh(first["refresh_token"]).json()
    third = served.refresh(second["refresh_token"]).json()
    assert len({one["refresh_token"] for one in (first, second, third)}) == 3
    assert served.api("GET", "me", third["access_token"]).status_code == 200
    assert served.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert served.refresh(third["refresh_token"]).json()["error"] == "invalid_grant"
    assert served.api("GET", "me", third["access_token"]).status_code == 401


def test_parallel_refreshes_have_one_winner_and_end_the_grant(served: Served) -> None:
    token = served.connect()
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: served.refresh(token["refresh_token"]), range(8)))
    assert sorted(one.status_code for one in answers) == [200] + [400] * 7
    assert served.sandbox.grants.live(CLIENT[0]) == []


def test_refresh_may_narrow_but_not_widen(served: Served) -> None:
    token = served.connect("profile tasks:read")
    assert served.refresh(token["refresh_token"], scope="webhooks").json()["error"] == "invalid_scope"
    narrow = served.refresh(token["refresh_token"], scope="profile").json()
    assert narrow["scope"] == "profile"
    assert served.api("GET", "projects", narrow["access_token"]).status_code == 403
    assert served.refresh(narrow["refresh_token"]).json()["scope"] == "profile tasks:read"


def test_short_lived_account_expires_and_refreshes(served: Served) -> None:
    token = served.connect(behaviour="short-lived")
    assert token["expires_in"] == 60
    served.clock.advance(MINUTE)
    refused = served.api("GET", "me", token["access_token"])
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]
    renewed = served.refresh(token["refresh_token"]).json()
    assert renewed["expires_in"] == 60
    assert served.api("GET", "me", renewed["access_token"]).status_code == 200


def test_revoking_account_ends_after_its_first_refresh(served: Served) -> None:
    token = served.connect(behaviour="revoking")
    assert served.api("GET", "me", token["access_token"]).status_code == 200
    renewed = served.refresh(token["refresh_token"])
    assert renewed.status_code == 200
    assert served.api("GET", "me", renewed.json()["access_token"]).status_code == 401
    assert served.refresh(renewed.json()["refresh_token"]).json()["error"] == "invalid_grant"


def test_slow_account_takes_its_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(oauth, "time", SimpleNamespace(sleep=waited.append))
    code = served.code(behaviour="slow")
    assert waited == []
    token = served.token(code).json()
    assert waited == [0.4]
    assert served.api("GET", "me", token["access_token"]).status_code == 200
    assert waited == [0.4, 0.4]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "Send a code_challenge: PKCE is required here."),
        ({"code_challenge": "c" * 43}, "Send code_challenge_method=S256: no other is supported."),
        (
            {"code_challenge": "c" * 43, "code_challenge_method": "plain"},
            "Send code_challenge_method=S256: no other is supported.",
        ),
    ],
)
def test_pkce_with_s256_is_asked_for(served: Served, changes: dict[str, str], sentence: str) -> None:
    asked = {"response_type": "code", "client_id": CLIENT[0], "redirect_uri": CALLBACK, "state": "xyz"} | changes
    answer = requests.get(f"{served.url}/oauth/authorize", params=asked, allow_redirects=False, timeout=10)
    assert query(answer) == {
        "error": "invalid_request",
        "error_description": sentence,
        "state": "xyz",
        "iss": served.url,
    }


@pytest.mark.parametrize("verb", ["redeem", "rotate"])
def test_whoever_comes_second_gets_no_token(served: Served, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    code, refresh_token = served.code(), served.connect()["refresh_token"]
    monkeypatch.setattr(served.sandbox.grants, verb, lambda *_: False)
    answer = served.token(code) if verb == "redeem" else served.refresh(refresh_token)
    assert (answer.status_code, answer.json()) == (
        400,
        {
            "error": "invalid_grant",
            "error_description": "This was used before, so all access that came from it has ended.",
        },
    )


def test_revocation_by_access_token_and_of_unknown_tokens(served: Served) -> None:
    token = served.connect()
    form = {"client_id": CLIENT[0], "client_secret": CLIENT[1]}
    url = f"{served.url}/oauth/revoke"
    assert requests.post(url, data=form | {"token": "unknown"}, timeout=10).status_code == 200
    assert requests.post(url, data=form, timeout=10).json()["error"] == "invalid_request"
    assert requests.post(url, data={"token": token["access_token"]}, timeout=10).status_code == 401
    assert served.api("GET", "me", token["access_token"]).status_code == 200
    hinted = form | {"token": token["access_token"], "token_type_hint": "something_new"}
    assert requests.post(url, data=hinted, timeout=10).status_code == 200
    assert served.refresh(token["refresh_token"]).json()["error"] == "invalid_grant"
