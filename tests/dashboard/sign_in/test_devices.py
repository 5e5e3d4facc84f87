"""Known devices: a stranger's tries do not slow them, and their cookie lets nobody in."""

from typing import Any

from webapp.people import sign_in_attempts
from webapp.people.sign_in_attempts import Source

ALICE = {"email": "alice@example.com", "password": "a long password"}
WRONG = {"email": "alice@example.com", "password": "wrong password"}


def signed_in(stage: Any) -> Any:
    """A browser in which alice used the form."""
    browser = stage.browser()
    assert browser.send("/sign-in", ALICE).status_code == 303
    return browser


def strangers(stage: Any) -> None:
    for number in range(40):
        sign_in_attempts.admit(stage.store, stage.clock, Source(ALICE["email"], f"203.0.113.{number}"))


def test_a_device_that_signed_in_before_is_not_slowed_by_strangers(stage: Any) -> None:
    known, new = signed_in(stage), stage.browser()
    known.send("/sign-out")
    strangers(stage)
    assert new.send("/sign-in", ALICE).status_code == 429
    assert known.send("/sign-in", ALICE).status_code == 303
    known.send("/sign-out")
    assert [known.send("/sign-in", WRONG).status_code for _ in range(6)] == [422] * 5 + [429], "it has its own count"


def test_the_cookie_is_for_its_accounts_is_signed_and_lets_nobody_in(stage: Any) -> None:
    known, other = signed_in(stage), stage.browser()
    cookie = known.client.get_cookie("patchbay_device")
    assert cookie.http_only and cookie.same_site == "Lax" and ALICE["email"] not in cookie.value
    strangers(stage)
    for value, code in ((cookie.value[:-2], 429), ("x", 429), (cookie.value, 303)):
        other.client.set_cookie("patchbay_device", value)
        assert other.get("/apps").status_code == 303
        assert other.send("/sign-in", ALICE).status_code == code
    for number in range(31):
        sign_in_attempts.admit(stage.store, stage.clock, Source("bob@example.com", f"203.0.113.{number}"))
    assert known.send("/sign-out").status_code == 303
    assert known.send("/sign-in", {**ALICE, "email": "bob@example.com"}).status_code == 429


def test_behind_a_proxy_that_nobody_named_others_are_not_locked_and_are_reported(stage: Any) -> None:
    browser = stage.browser()
    browser.client.environ_base["patchbay.unnamed_proxy"] = "127.0.0.1"
    for number in range(40):
        answer = browser.send("/sign-in", {**WRONG, "email": f"{number}@example.com"})
        assert answer.status_code == 422
    for _ in range(30):
        sign_in_attempts.admit(stage.store, stage.clock, Source(ALICE["email"], None))
    told = browser.send("/sign-in", ALICE)
    assert told.status_code == 429 and "PATCHBAY_TRUSTED_PROXIES" in told.text
