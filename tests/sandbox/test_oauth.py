"""The authorization server over real HTTP, by Authlib's client and by hand: consent, tokens, revocation, metadata."""

import concurrent.futures
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
import requests
from authlib.oauth2 import rfc8414, rfc9207
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from tests.sandbox.conftest import (
    ALL_SCOPES,
    CALLBACK,
    CLIENT,
    OTHER_CALLBACK,
    VERIFIER,
    Served,
    build,
    hidden,
    query,
)
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


def address(served: Served, **changes: str | None) -> str:
    asked = {
        "response_type": "code",
        "client_id": CLIENT[0],
        "redirect_uri": CALLBACK,
        "scope": "profile",
        "state": "xyz",
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }
    kept = {name: value for name, value in (asked | changes).items() if value is not None}
    return f"{served.url}/oauth/authorize?{urlencode(kept)}"


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_whole_flow_by_a_client_library(served: Served, method: str) -> None:
    with served.client(token_endpoint_auth_method=method) as client:
        ask, state = client.create_authorization_url(f"{served.url}/oauth/authorize", code_verifier=VERIFIER)
        answer = served.consent(ask, person="per_grace")
        assert answer.status_code == 303
        assert answer.headers["Location"].startswith(f"{CALLBACK}?")
        assert query(answer)["iss"] == served.url
        token = client.fetch_token(
            f"{served.url}/oauth/token",
            authorization_response=answer.headers["Location"],
            code_verifier=VERIFIER,
            state=state,
        )
        assert token["token_type"] == "Bearer"
        assert token["expires_in"] == 3600
        assert token["scope"] == ALL_SCOPES
        assert client.get(f"{served.url}/api/me").json()["email"] == "grace@sandbox.example"
        renewed = client.refresh_token(f"{served.url}/oauth/token")
        assert renewed["refresh_token"] != token["refresh_token"]
        assert client.get(f"{served.url}/api/me").status_code == 200
        assert client.revoke_token(f"{served.url}/oauth/revoke", renewed["refresh_token"]).status_code == 200
        assert client.get(f"{served.url}/api/me").status_code == 401


def test_consent_page_says_what_is_asked_and_preselects_the_first(served: Served) -> None:
    page = requests.get(address(served, scope="profile tasks:write"), timeout=10)
    assert page.status_code == 200
    assert "Create, change and delete tasks" in page.text
    assert "See projects" not in page.text
    assert 'value="per_ada" checked' in page.text
    assert hidden(page.text)["state"] == "xyz"


def test_deny_goes_back_with_access_denied(served: Served) -> None:
    answer = served.consent(address(served), decision="deny")
    assert answer.status_code == 303
    found = query(answer)
    assert (found["error"], found["state"], found["iss"]) == ("access_denied", "xyz", served.url)
    assert served.sandbox.grants.live(CLIENT[0]) == []


def test_registered_uri_with_a_query_keeps_it(served: Served) -> None:
    answer = served.consent(address(served, redirect_uri=OTHER_CALLBACK))
    assert query(answer).keys() == {"kept", "code", "state", "iss"}


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": f"{CALLBACK}?a=1"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "javascript:alert(1)"},
        {"redirect_uri": 'http://x/"><script>alert(1)</script>'},
        {"redirect_uri": None},
        {"client_id": "someone-else"},
        {"client_id": None},
        {"client_id": "someone-else", "response_type": "token"},
        {"response_type": 'co"de', "redirect_uri": "https://evil.example/"},
        {"scope": "töricht"},
    ],
)
def test_what_cannot_be_trusted_is_never_redirected(served: Served, changes: dict[str, str | None]) -> None:
    for method in ("GET", "POST"):
        answer = requests.request(method, address(served, **changes), allow_redirects=False, timeout=10)
        assert answer.status_code == 400
        assert "Location" not in answer.headers
        assert "<script" not in answer.text


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "profile admin"}, "invalid_scope"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
    ],
)
def test_other_mistakes_go_back_to_the_client(served: Served, changes: dict[str, str | None], error: str) -> None:
    answer = requests.get(address(served, **changes), allow_redirects=False, timeout=10)
    assert answer.status_code == 303
    found = query(answer)
    assert (found["error"], found["state"], found["iss"]) == (error, "xyz", served.url)


def test_repeated_parameter_is_refused(served: Served) -> None:
    assert requests.get(f"{address(served)}&scope=webhooks", timeout=10).status_code == 400


def test_consent_needs_the_form_token(served: Served) -> None:
    answer = requests.post(address(served), data={"decision": "allow"}, allow_redirects=False, timeout=10)
    assert answer.status_code == 400
    assert "Location" not in answer.headers


def test_unknown_person_or_behaviour_asks_again(served: Served) -> None:
    assert served.consent(address(served), person="per_nobody").status_code == 422
    assert served.consent(address(served), behaviour="wild").status_code == 422


def test_default_scope_is_the_profile(served: Served) -> None:
    code = query(served.consent(address(served, scope=None, code_challenge=_challenge())))["code"]
    assert served.token(code).json()["scope"] == "profile"


def _challenge() -> str:
    return str(create_s256_code_challenge(VERIFIER))


def test_metadata_is_valid_and_announces_iss(served: Served) -> None:
    data = requests.get(f"{served.url}/.well-known/oauth-authorization-server", timeout=10).json()
    found = rfc8414.AuthorizationServerMetadata(data)
    found.validate(metadata_classes=[rfc9207.AuthorizationServerMetadata])
    assert data["issuer"] == served.url
    assert data["authorization_response_iss_parameter_supported"] is True
    assert data["code_challenge_methods_supported"] == ["S256"]


def test_grants_survive_a_restart(served: Served) -> None:
    token = served.connect()
    code = served.code()
    folder = served.data
    again = build(folder, served.url, served.clock)
    with again.test_client() as client:
        bearer = {"Authorization": f"Bearer {token['access_token']}"}
        assert client.get("/api/me", headers=bearer).status_code == 200
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        credentials = {"client_id": CLIENT[0], "client_secret": CLIENT[1], "code_verifier": VERIFIER}
        assert client.post("/oauth/token", data=form | credentials).status_code == 200


def test_no_token_stands_in_the_database(served: Served) -> None:
    token = served.connect()
    folder = served.data
    held = b"".join(path.read_bytes() for path in folder.iterdir())
    for secret in (token["access_token"], token["refresh_token"], CLIENT[1], served.key()):
        assert secret.encode() not in held
