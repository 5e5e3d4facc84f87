"""Passkeys in a person's settings."""

import re
from typing import Any

from webauthn.helpers import base64url_to_bytes

from tests.people.authenticator import Authenticator
from webapp.people import passkeys

NOW = {"current": "a long password"}


def add(browser: Any, credential: dict[str, Any]) -> Any:
    token = re.findall(r'name="csrf_token" value="([^"]+)"', browser.get("/settings").text)[0]
    body = {"credential": credential, "name": "Phone"}
    return browser.client.post("/settings/passkeys", json=body, headers={"X-CSRFToken": token})


def test_a_passkey_is_added_with_the_password_and_removed(stage: Any) -> None:
    browser, device = stage.signed_in(), Authenticator()
    refused = browser.send("/settings/passkeys/options", {"current": "nope"})
    assert refused.status_code == 422 and "not your password" in refused.json["error"]
    assert "too long" in add(browser, device.create(b"x" * 32)).json["error"], "nothing was asked for"
    browser.send("/settings/passkeys/options", NOW)
    assert "Try another" in add(browser, device.create(b"x" * 32)).json["error"]
    options = browser.send("/settings/passkeys/options", NOW).json
    assert options["rp"]["id"] == "localhost" and options["user"]["name"] == "alice@example.com"
    done = add(browser, device.create(base64url_to_bytes(options["challenge"])))
    assert done.json == {"url": "/settings"}
    page = browser.get("/settings").text
    assert "The passkey is added." in page and "Remove Phone" in page
    (kept,) = passkeys.of_user(stage.store, stage.alice.id)
    assert browser.send("/settings/passkeys/remove", {"id": "other"}).status_code == 404
    assert browser.send("/settings/passkeys/remove", {"id": kept.id}).status_code == 303
    assert passkeys.of_user(stage.store, stage.alice.id) == []
