"""What became of an attempt: told to the page that waits, and in the sign-in's own window."""

import re
from typing import Any

from webapp.kit.clock import SECOND
from webapp.service.domain.accounts import lifecycle


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
    assert browser.post("/_static/connect/status", other, hx_request="true").text.count("can’t be used any more") == 1


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
    assert "You cancelled" in closing and "Close this window and go on where you started." in closing
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
        lifecycle.remove(tx, world.accounts(), world.clock())
    fields = hidden_fields(page.text, "/_static/connect/status")
    gone = status(browser, fields)
    assert gone.status_code == 404 and "This account is not connected any more" in gone.text
    assert "data-account" not in status(browser, fields, hx_request="true").text
