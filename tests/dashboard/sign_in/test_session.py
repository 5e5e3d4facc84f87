"""Signing in, staying in, signing out."""

from typing import Any

import pytest

from webapp.kit.clock import DAY, MINUTE
from webapp.people import users

GOOD = {"email": "alice@example.com", "password": "a long password"}


def test_sign_in_leads_back_to_where_one_wanted_to_go(busy: Any) -> None:
    browser = busy.browser()
    led = browser.get("/accounts?status=working")
    assert led.headers["Location"] == "/sign-in?next=/accounts?status%3Dworking"
    page = browser.get(led.headers["Location"]).text
    assert 'name="next" value="/accounts?status=working"' in page
    answer = browser.send("/sign-in", GOOD | {"next": "/accounts?status=working"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/accounts?status=working")
    assert browser.get("/sign-in").headers["Location"] == "/"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example", "http:evil",
        "javascript:alert(1)",
        "/\t/evil.example", "/\n/evil.example", " //evil.example", "///evil.example", "evil", "", "/" + "x" * 3_000,
        "//[evil", "/\x00",
    ],
)  # fmt: skip
def test_next_leads_nowhere_else(stage: Any, target: str) -> None:
    answer = stage.browser().send("/sign-in", GOOD | {"next": target})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")


def test_known_and_unknown_address_get_the_same_answer(stage: Any) -> None:
    answers = []
    for email in ("alice@example.com", "nobody@example.com"):
        answer = stage.browser().send("/sign-in", {"email": email, "password": "wrong password"})
        tokenless = answer.text.split("hx-headers")[0], answer.text.count("csrf_token"), answer.status_code
        answers.append((tokenless, "wrong. Check both" in answer.text))
    assert answers[0] == answers[1]
    assert answers[0][1]


def test_too_many_tries_are_told_how_long_to_wait(stage: Any) -> None:
    browser = stage.browser()
    codes = [
        browser.send("/sign-in", {"email": "alice@example.com", "password": "wrong password"}).status_code
        for _ in range(6)
    ]
    assert codes == [422] * 5 + [429]
    right = browser.send("/sign-in", GOOD)
    assert right.status_code == 429
    assert right.headers["Retry-After"] == "15"
    assert "Wait 15\xa0seconds" in right.text
    stage.clock.advance(15_000)
    assert browser.send("/sign-in", GOOD).status_code == 303


def test_password_is_never_sent_back(stage: Any) -> None:
    answer = stage.browser().send("/sign-in", {"email": '"><script>x</script>', "password": "canary-password"})
    assert "canary-password" not in answer.text
    assert "<script>x" not in answer.text


def test_cookie_is_http_only_lax_and_two_weeks(stage: Any) -> None:
    answer = stage.browser().send("/sign-in", GOOD)
    (cookie,) = [value for value in answer.headers.getlist("Set-Cookie") if value.startswith("patchbay_session=")]
    for part in ("HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=1209600"):
        assert part in cookie
    assert "Secure" not in cookie
    assert "Domain" not in cookie


def test_cookie_is_locked_to_the_host_over_https(make_stage: Any) -> None:
    stage = make_stage(PATCHBAY_PUBLIC_URL="https://connect.example.com")
    client = stage.app.test_client()
    base = "https://connect.example.com"
    page = client.get("/sign-in", base_url=base)
    token = page.text.split('name="csrf_token" value="')[1].split('"')[0]
    answer = client.post("/sign-in", base_url=base, data=GOOD | {"csrf_token": token}, headers={"Referer": base + "/"})
    assert answer.status_code == 303
    assert client.post("/sign-in", base_url=base, data=GOOD, headers={"Referer": base + "/"}).status_code == 400
    for value in page.headers.getlist("Set-Cookie") + answer.headers.getlist("Set-Cookie"):
        assert value.startswith("__Host-patchbay_")
        assert "Secure" in value
        assert "HttpOnly" in value


def test_a_browser_learns_the_theme_of_whoever_signs_in(stage: Any) -> None:
    first = stage.signed_in()
    first.send("/settings", {"theme": "dark", "time_zone": "UTC", "language": "en"})
    answer = stage.browser().send("/sign-in", GOOD)
    (cookie,) = [value for value in answer.headers.getlist("Set-Cookie") if value.startswith("theme=")]
    assert cookie.startswith("theme=dark;")


def test_session_slides_and_ends(stage: Any) -> None:
    browser = stage.signed_in()
    browser.get("/settings")
    stage.clock.advance(2_000)
    assert not any("patchbay_session" in value for value in browser.get("/settings").headers.getlist("Set-Cookie"))
    stage.clock.advance(MINUTE)
    assert any("patchbay_session" in value for value in browser.get("/settings").headers.getlist("Set-Cookie"))
    stage.clock.advance(13 * DAY)
    assert browser.get("/settings").status_code == 200
    stage.clock.advance(14 * DAY)
    assert browser.get("/settings").status_code == 303


def test_sign_out_ends_the_session_for_good(stage: Any) -> None:
    browser = stage.signed_in()
    cookie = browser.client.get_cookie("patchbay_session")
    assert browser.send("/sign-out").headers["Location"] == "/sign-in"
    assert "You are signed out." in browser.get("/sign-in").text
    browser.client.set_cookie("patchbay_session", cookie.value)
    assert browser.get("/apps").status_code == 303


def test_who_is_disabled_is_out_and_told_so_with_the_right_password_alone(stage: Any) -> None:
    bob = users.create(stage.store, stage.clock, email="bob@example.com", password=GOOD["password"], role="member")
    browser = stage.signed_in("bob@example.com")
    with stage.store.write() as tx:
        users.set_enabled(tx, stage.clock(), bob, False)
    assert browser.get("/apps").status_code == 303
    refused = browser.send("/sign-in", {"email": "bob@example.com", "password": GOOD["password"]})
    assert refused.status_code == 403 and "This login is disabled." in refused.text
    wrong = browser.send("/sign-in", {"email": "bob@example.com", "password": "wrong password"})
    assert wrong.status_code == 422 and "disabled" not in wrong.text


def test_form_tokens_of_before_signing_in_are_void(stage: Any) -> None:
    browser = stage.browser()
    token = browser.get("/sign-in").text.split('name="csrf_token" value="')[1].split('"')[0]
    browser.send("/sign-in", GOOD)
    assert browser.client.post("/sign-out", data={"csrf_token": token}).status_code == 400


def test_a_deleted_person_is_out(stage: Any) -> None:
    browser = stage.signed_in()
    with stage.store.write() as tx:
        tx.run("DELETE FROM users")
    assert browser.get("/apps").status_code == 303
    assert not users.any_user(stage.store)
    assert "Nobody can sign in yet" in browser.get("/sign-in").text
