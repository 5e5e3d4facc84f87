"""With two-step sign-in, the right password leads to the code, and the code alone signs in."""

from typing import Any

import pyotp
import pytest

from webapp.kit.clock import MINUTE
from webapp.people import users

GOOD = {"email": "alice@example.com", "password": "a long password"}


@pytest.fixture
def secret(stage: Any) -> str:
    """Alice's, who has switched it on."""
    totp = stage.app.extensions["patchbay_dashboard"].totp
    secret: str = totp.begin(stage.alice)
    totp.enable(stage.alice, pyotp.TOTP(secret).at(stage.clock() // 1000))
    stage.clock.advance(MINUTE)
    return secret


def code(stage: Any, secret: str) -> dict[str, str]:
    return {"code": pyotp.TOTP(secret).at(stage.clock() // 1000)}


def test_the_password_alone_signs_nobody_in(stage: Any, secret: str) -> None:
    browser = stage.browser()
    led = browser.send("/sign-in", GOOD | {"next": "/accounts"})
    assert (led.status_code, led.headers["Location"]) == (303, "/sign-in/code")
    assert browser.get("/apps").status_code == 303
    page = browser.get("/sign-in/code")
    assert page.status_code == 200 and 'autocomplete="one-time-code"' in page.text
    wrong = browser.send("/sign-in/code", {"code": "nope"})
    assert wrong.status_code == 422 and "That code is not right" in wrong.text
    done = browser.send("/sign-in/code", code(stage, secret))
    assert (done.status_code, done.headers["Location"]) == (303, "/accounts")
    assert browser.get("/settings").status_code == 200
    again = stage.browser()
    again.send("/sign-in", GOOD)
    assert again.send("/sign-in/code", code(stage, secret)).status_code == 422, "a code works once"


def test_the_second_step_is_for_whoever_gave_the_password_a_moment_ago(stage: Any, secret: str) -> None:
    browser = stage.browser()
    for answer in (browser.get("/sign-in/code"), browser.send("/sign-in/code", code(stage, secret))):
        assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    browser.send("/sign-in", GOOD)
    stage.clock.advance(10 * MINUTE)
    assert browser.send("/sign-in/code", code(stage, secret)).headers["Location"] == "/sign-in"
    browser.send("/sign-in", GOOD)
    users.create(stage.store, stage.clock, email="bob@example.com", password="a long password", role="owner")
    with stage.store.write() as tx:
        users.set_enabled(tx, stage.clock(), stage.alice, False)
    assert browser.send("/sign-in/code", code(stage, secret)).headers["Location"] == "/sign-in"


def test_codes_cannot_be_tried_out_and_the_password_gives_no_more_tries(stage: Any, secret: str) -> None:
    browser = stage.browser()
    answers = []
    for _ in range(6):
        browser.send("/sign-in", GOOD)
        answers.append(browser.send("/sign-in/code", {"code": "nope"}))
    assert [answer.status_code for answer in answers] == [422] * 5 + [429]
    assert answers[-1].headers["Retry-After"] == "15" and "Wait 15\xa0seconds" in answers[-1].text
    assert browser.send("/sign-in/code", code(stage, secret)).status_code == 429
