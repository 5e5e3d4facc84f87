"""How far a connection has come: for pages of the token's origins, and nothing for any other."""

from typing import Any

from webapp.kit.clock import HOUR
from webapp.service.domain.access import embedding

ORIGIN = "https://app.acme.example"


def state(browser: Any, token: str, origin: str = ORIGIN) -> Any:
    headers = {"origin": origin} if origin else {}
    return browser.post("/_static/connect/state", {"token": token}, **headers)


def test_each_step_of_a_connection(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ORIGIN])
    page = browser.open(token)
    assert state(browser, token).json == {"status": "open"}
    begun = browser.start(page)
    answer = state(browser, token)
    assert answer.json == {"status": "started"} and answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "Origin" in answer.headers["Vary"] and answer.headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    browser.get(world.sandbox.decide(begun.headers["Location"], "deny"))
    failed = state(browser, token).json
    assert (failed["status"], failed["code"]) == ("failed", "access_denied") and "Nothing was connected" in failed[
        "error"
    ]
    browser.callback(browser.get(f"{page.request.path}?again=1"))
    world.clock.advance(5 * HOUR)
    (account,) = world.accounts()
    assert state(browser, token).json == {"status": "connected", "account_id": account.id}


def test_a_token_that_came_to_nothing_has_expired(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ORIGIN])
    world.clock.advance(5 * HOUR)
    assert state(browser, token).json == {"status": "expired"}


def test_another_page_is_told_that_it_is_not_allowed_and_nothing_else(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ORIGIN])
    browser.callback(browser.open(token))
    answer = state(browser, token, "https://evil.example")
    assert answer.status_code == 403 and answer.json["code"] == "origin_not_allowed"
    assert set(answer.json) == {"code", "error"} and "apn_" not in answer.text
    assert answer.headers["Access-Control-Allow-Origin"] == "https://evil.example"
    assert [refused.origin for refused in embedding.latest(world.service, world.scene)] == ["https://evil.example"]
    assert state(browser, token, "null").status_code == 403


def test_an_unknown_token_says_so(browser: Any) -> None:
    assert [state(browser, token).json["code"] for token in ("", "ctok_0")] == ["token_missing", "invalid_token"]
