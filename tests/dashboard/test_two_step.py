"""Two-step sign-in in a person's settings."""

import re
from typing import Any

import pyotp

NOW = {"current": "a long password"}


def test_it_is_set_up_with_an_app_and_switched_off(stage: Any) -> None:
    browser = stage.signed_in()
    page = browser.get("/settings/two-step").text
    assert 'src="data:image/svg+xml' in page and "otpauth://totp/Patchbay" in page
    secret = re.findall(r"[?&]secret=([A-Z2-7]{32})", page)[0]
    assert browser.get("/settings/two-step").text.count(secret) > 0, "a reload keeps it"
    right = {"code": pyotp.TOTP(secret).at(stage.clock() // 1000)}
    assert "That is not your password now" in browser.send("/settings/two-step", right | {"current": "nope"}).text
    assert "That code is not right" in browser.send("/settings/two-step", NOW | {"code": "nope"}).text
    shown = browser.send("/settings/two-step", NOW | right).text
    codes = re.findall(r"<code>(\w{4}-\w{4}-\w{4})</code>", shown)
    assert len(codes) == 10 and "Two-step sign-in is on." in shown
    settings = browser.get("/settings").text
    assert "You have 10 recovery codes left." in settings and codes[0] not in settings
    assert browser.get("/settings/two-step").headers["Location"] == "/settings"
    renewed = browser.send("/settings/two-step/codes", NOW).text
    assert len(re.findall(r"<code>\w{4}-\w{4}-\w{4}</code>", renewed)) == 10 and codes[0] not in renewed
    assert browser.send("/settings/two-step/off", {"current": "nope"}).status_code == 422
    assert browser.send("/settings/two-step/off", NOW).status_code == 303
    assert "Two-step sign-in is off." in browser.get("/settings").text
    assert stage.signed_in().get("/settings").status_code == 200


def test_there_are_no_codes_without_it(stage: Any) -> None:
    browser = stage.signed_in()
    assert browser.send("/settings/two-step/codes", {"current": "nope"}).status_code == 422
    assert browser.send("/settings/two-step/codes", NOW).headers["Location"] == "/settings"
    assert browser.send("/settings/two-step", NOW | {"code": "123456"}).status_code == 422
