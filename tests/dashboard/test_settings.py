"""A person's settings: theme, time zone and language last; the password; the signed-in browsers."""

from typing import Any

import pytest

from webapp.people import api_keys, users

LOOKS = {"theme": "dark", "time_zone": "Europe/Berlin", "language": "en"}


def test_choices_last_and_reach_every_browser(busy: Any) -> None:
    mine, other = busy.signed_in(), busy.signed_in()
    answer = mine.send("/settings", LOOKS)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/settings")
    assert any(value.startswith("theme=dark;") for value in answer.headers.getlist("Set-Cookie"))
    page = other.get("/accounts").text
    assert 'data-theme="dark" data-zone="Europe/Berlin"' in page
    assert "CET" in page or "CEST" in page
    assert 'datetime="' in page and 'Z" title=' in page  # what machines read stays in UTC
    again = other.get("/settings").text
    assert 'value="dark" checked' in again
    assert 'value="Europe/Berlin" selected' in again


@pytest.mark.parametrize("field, value", [("theme", "pink"), ("time_zone", "Mars/Base"), ("language", "tlh")])
def test_what_there_is_not_to_choose_is_refused(stage: Any, field: str, value: str) -> None:
    browser = stage.signed_in()
    answer = browser.send("/settings", LOOKS | {field: value})
    assert answer.status_code == 422
    assert 'data-theme="auto" data-zone=""' in browser.get("/settings").text


def test_mails_are_chosen_where_they_are_sent_and_survive_other_choices(stage: Any, make_stage: Any) -> None:
    assert "reconnect_mails" not in stage.signed_in().get("/settings").text
    sends = make_stage(
        PATCHBAY_PUBLIC_URL="http://localhost",
        PATCHBAY_SMTP_URL="smtp://mail.example.com",
        PATCHBAY_SMTP_FROM="a@example.com",
    )
    browser = sends.signed_in()

    def ticked() -> bool:
        return 'name="reconnect_mails" value="1" checked' in browser.get("/settings").text

    assert ticked()
    assert browser.send("/settings/mails", {}).headers["Location"] == "/settings"
    assert not ticked()
    browser.send("/settings", LOOKS)
    browser.send("/settings/theme", {"theme": "light"})
    assert not ticked()
    browser.send("/settings/mails", {"reconnect_mails": "1"})
    assert ticked()
    assert 'value="Europe/Berlin" selected' in browser.get("/settings").text


def test_the_theme_alone_stays_on_its_page(busy: Any) -> None:
    browser = busy.signed_in()
    token = browser.get("/apps").text.split('name="csrf_token" value="')[1].split('"')[0]
    data = {"csrf_token": token, "theme": "light"}
    answer = browser.client.post(
        "/settings/theme", data=data, headers={"Referer": "http://localhost/accounts?app=github"}
    )
    assert (answer.status_code, answer.headers["Location"]) == (303, "/accounts?app=github")
    elsewhere = browser.client.post("/settings/theme", data=data, headers={"Referer": "https://evil.example/x"})
    assert elsewhere.headers["Location"] == "/"
    shown_once = {"Referer": "http://localhost/build/people/u_1/reset-link"}  # a page that answered a form
    assert browser.client.post("/settings/theme", data=data, headers=shown_once).location == "/build/people"
    assert 'data-theme="light"' in browser.get("/apps").text
    assert browser.send("/settings/theme", {"theme": "pink"}).status_code == 400
    assert browser.client.post("/settings/theme", data={"theme": "dark"}).status_code == 400  # no form token
    assert 'data-theme="light"' in browser.get("/apps").text


def test_the_address_of_before_leads_here(stage: Any) -> None:
    assert stage.signed_in().get("/you").headers["Location"] == "/settings"


def test_changing_the_password_signs_others_out(stage: Any) -> None:
    mine, other = stage.signed_in(), stage.signed_in()
    assert "current-err" in mine.send("/settings/password", {"current": "nope", "password": "another long one"}).text
    weak = mine.send("/settings/password", {"current": "a long password", "password": "short"})
    assert weak.status_code == 422
    done = mine.send("/settings/password", {"current": "a long password", "password": "another long one"})
    assert done.status_code == 303
    assert "The password is changed." in mine.get("/settings").text
    assert other.get("/settings").status_code == 303
    assert users.authenticate(stage.store, email="alice@example.com", password="another long one")


def test_other_browsers_can_be_signed_out(stage: Any) -> None:
    mine, other, third = (stage.signed_in() for _ in range(3))
    page = mine.get("/settings").text
    ends = {part.split('"')[0] for part in page.split('action="')[1:] if part.startswith("/settings/sessions/")}
    one_end = min(ends - {"/settings/sessions/end-others"})
    assert len(ends) == 3  # one for each other browser, and the one for all
    assert "This one" in page
    assert mine.send(one_end).status_code == 303
    assert mine.send(one_end).status_code == 404
    assert mine.send("/settings/sessions/end-others").status_code == 303
    assert [browser.get("/settings").status_code for browser in (mine, other, third)] == [200, 303, 303]


def test_the_api_key_is_shown_once_and_a_new_one_ends_it(stage: Any) -> None:
    browser = stage.signed_in()
    assert "Show my key" in browser.get("/settings").text
    first = browser.send("/settings/api-key", {})
    key = first.text.split("<code>pbk_")[1].split("</code>")[0]
    page = browser.get("/settings").text
    assert key not in page and "Replace the key" in page
    store = stage.store
    assert api_keys.owner_id(store, f"pbk_{key}") == users.all_users(store)[0].id
    second = browser.send("/settings/api-key", {}).text
    assert key not in second and api_keys.owner_id(store, f"pbk_{key}") is None
    assert browser.client.post("/settings/api-key").status_code == 400  # no form token
