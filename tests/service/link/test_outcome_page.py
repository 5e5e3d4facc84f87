"""What became of an attempt: on the page that polls, in the sign-in's own window, and as JSON only for pages of the
token's origins.
"""

import re
from typing import Any

from webapp.kit.clock import HOUR, SECOND
from webapp.service.domain.access import refused_origins
from webapp.service.domain.accounts import account_state

ORIGIN = "https://app.acme.example"


def test_a_window_shows_a_page_to_close_and_the_waiting_page_learns_of_it(
    world: Any, browser: Any, hidden_fields: Any
) -> None:
    token = world.token(allowed_origins=["https://app.acme.example"])
    page = browser.frame(token)
    fields = hidden_fields(page.text, "/_static/connect/status")
    assert browser.post("/_static/connect/status", fields, hx_request="true").status_code == 204
    back = browser.callback(page, window=True)
    closing = browser.get(back.headers["Location"])
    assert "You can close this window" in closing.text and closing.headers["X-Frame-Options"] == "DENY"
    assert token not in closing.text
    told = browser.post("/_static/connect/status", fields, hx_request="true")
    (account,) = world.accounts()
    assert f'data-account="{account.id}"' in told.text and "<html" not in told.text and "hx-trigger" not in told.text
    whole = browser.post("/_static/connect/status", fields)
    assert "<html" in whole.text and "Connected" in whole.text


def test_the_waiting_page_of_somebody_else_learns_nothing(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]))
    fields = hidden_fields(page.text, "/_static/connect/status")
    other = {**fields, "token": world.token("mallory")}
    assert browser.post("/_static/connect/status", other, hx_request="true").text.count("can no longer be used") == 1


def test_a_frame_hears_of_a_sign_in_that_began_before_its_script_ran(
    world: Any, browser: Any, hidden_fields: Any
) -> None:
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]))
    assert re.search(r'hx-trigger="every 4s, poll"[^>]*data-poll', page.text), "it asks from its first load"
    fields = hidden_fields(page.text, "/_static/connect/status")
    assert fields["shown"] == "ask" and status(browser, fields, hx_request="true").status_code == 204
    begun = browser.start(page, window=True)
    waiting = status(browser, fields, hx_request="true")
    assert "Finish at Sandbox Tasks" in waiting.text and "<html" not in waiting.text
    assert status(browser, {**fields, "shown": ""}, hx_request="true").status_code == 204
    browser.get(world.sandbox.decide(begun.headers["Location"]))
    assert 'data-outcome="success"' in status(browser, fields, hx_request="true").text


def status(browser: Any, fields: dict[str, str], **headers: str) -> Any:
    return browser.post("/_static/connect/status", fields, **headers)


def test_a_page_that_was_reloaded_learns_of_its_last_attempt(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = browser.open(world.token())
    lost = {**hidden_fields(page.text, "/_static/connect/status"), "attempt": ""}
    browser.start(page, window=True)
    waiting = status(browser, lost)
    assert waiting.status_code == 200 and "Finish at Sandbox Tasks" in waiting.text
    world.clock.advance(SECOND)
    browser.callback(browser.get(f"/_static/connect/{lost['session']}?again=1"), window=True)
    assert f'data-account="{world.accounts()[0].id}"' in status(browser, lost, hx_request="true").text
    framed = hidden_fields(
        browser.frame(world.token(allowed_origins=["https://app.acme.example"])).text, "/_static/connect/status"
    )
    refused = status(browser, {**framed, "attempt": ""})
    assert refused.status_code == 400
    assert "It was already used, or was started in another browser." in refused.text


def test_a_cancelled_sign_in_is_told_where_it_ended_and_where_it_began(
    world: Any, browser: Any, hidden_fields: Any
) -> None:
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]))
    back = browser.callback(page, window=True, decision="deny")
    closing = browser.get(back.headers["Location"]).text
    assert "You cancelled" in closing and "Close this window and continue where you started." in closing
    told = status(browser, hidden_fields(page.text, "/_static/connect/status"), hx_request="true")
    assert told.status_code == 200 and "<html" not in told.text
    assert 'data-outcome="cancelled"' in told.text
    assert "You chose not to give access. Nothing was connected." in told.text


def test_an_account_that_went_in_the_meantime_is_not_shown_as_connected(
    world: Any, browser: Any, hidden_fields: Any
) -> None:
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]))
    browser.callback(page, window=True)
    with world.service.store.write() as tx:
        account_state.remove(tx, world.accounts(), world.clock())
    fields = hidden_fields(page.text, "/_static/connect/status")
    gone = status(browser, fields)
    assert gone.status_code == 404 and "This account is no longer connected" in gone.text
    assert "data-account" not in status(browser, fields, hx_request="true").text


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
    assert [refused.origin for refused in refused_origins.latest(world.service, world.scene)] == [
        "https://evil.example"
    ]
    assert state(browser, token, "null").status_code == 403


def test_an_unknown_token_says_so(browser: Any) -> None:
    assert [state(browser, token).json["code"] for token in ("", "ctok_0")] == ["token_missing", "invalid_token"]
