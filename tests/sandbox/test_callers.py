"""Who calls the JSON API: a key in either place, a bearer token with its scope, and the behaviour of its account."""

import pytest
import requests

from tests.sandbox.conftest import Served


def test_key_in_the_header(served: Served) -> None:
    answer = served.api("GET", "me")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": "per_ada",
        "name": "Ada Lovelace",
        "email": "ada@sandbox.example",
        "account_id": "acct_ada",
    }


def test_key_by_basic(served: Served) -> None:
    url = f"{served.url}/api/me"
    assert requests.get(url, auth=("acct_grace", served.key(1)), timeout=10).json()["name"] == "Grace Hopper"
    foreign = requests.get(url, auth=("acct_ada", served.key(1)), timeout=10)
    assert foreign.status_code == 401
    assert foreign.headers["WWW-Authenticate"].startswith("Basic ")
    assert requests.get(url, auth=("", ""), timeout=10).status_code == 401


def test_wrong_key_is_401_and_disabled_key_403(served: Served) -> None:
    disabled = served.sandbox.keys.disabled
    for key in ("", "x", "sbx_live_", served.key()[:-1] + "x", served.key() + "0", "ü"):
        answer = served.api("GET", "me", headers={"X-Api-Key": key.encode()})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_key")
    answer = served.api("GET", "me", headers={"X-Api-Key": disabled.secret})
    assert (answer.status_code, answer.json()["error"]) == (403, "key_disabled")
    basic = requests.get(f"{served.url}/api/me", auth=(disabled.person.account_id, disabled.secret), timeout=10)
    assert basic.status_code == 403


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer x", "Digest x", "Basic %%%", "bearer sbx_at_x"])
def test_no_or_unknown_token_is_401(served: Served, header: str | None) -> None:
    answer = served.api("GET", "me", headers={"Authorization": header} if header else {})
    assert answer.status_code == 401
    assert answer.json()["message"]
    assert "WWW-Authenticate" in answer.headers


def test_refresh_token_is_no_access_token(served: Served) -> None:
    assert served.api("GET", "me", served.connect()["refresh_token"]).status_code == 401


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        ("tasks:read", "GET", "me"),
        ("profile", "GET", "projects"),
        ("profile", "GET", "projects/prj_005/fields"),
        ("profile", "GET", "tasks"),
        ("tasks:read", "POST", "projects/prj_001/tasks"),
        ("tasks:read", "PATCH", "tasks/tsk_1"),
        ("tasks:read", "DELETE", "tasks/tsk_1"),
        ("tasks:write", "GET", "webhooks"),
        ("tasks:write", "POST", "webhooks"),
    ],
)
def test_scopes_are_enforced(served: Served, scope: str, method: str, path: str) -> None:
    answer = served.api(method, path, served.connect(scope)["access_token"])
    assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]


def test_account_in_trouble_has_tokens_but_no_api(served: Served) -> None:
    token = served.connect(behaviour="trouble")
    answer = served.api("GET", "me", token["access_token"])
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert served.refresh(token["refresh_token"]).status_code == 200


def test_each_refusal_says_what_to_do(served: Served) -> None:
    disabled = served.sandbox.keys.disabled.secret
    token = served.connect("profile")["access_token"]
    sentences = {
        served.api("GET", path, headers=headers).json()["message"]
        for path, headers in (
            ("me", {}),
            ("me", {"X-Api-Key": "sbx_live_x"}),
            ("me", {"X-Api-Key": disabled}),
            ("me", {"Authorization": "Bearer sbx_at_x"}),
            ("tasks", {"Authorization": f"Bearer {token}"}),
        )
    }
    assert sentences == {
        "Send a bearer token or a key.",
        "There is no such key. Copy one from the Keys page.",
        "This key was switched off. Use another from the Keys page.",
        "This token is unknown, expired or revoked.",
        "This access does not include tasks:read.",
    }
