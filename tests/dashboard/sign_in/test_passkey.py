"""Challenges of one browser, and where browsers have passkeys at all.

Signing in with a passkey: no password, no code, and nobody who is disabled.
"""

import re
from typing import Any

import pytest
from webauthn.helpers import base64url_to_bytes

from tests.people.authenticator import Authenticator
from webapp.dashboard.sign_in import passkey
from webapp.kit.clock import MINUTE
from webapp.people import challenges, passkeys, users
from webapp.people.passkeys import RelyingParty


def test_a_challenge_is_taken_once_and_in_time(stage: Any) -> None:
    with stage.request():
        assert passkey.take() is None
        given = passkey.give()
        assert passkey.take() == given and passkey.take() is None
        passkey.give()
        stage.clock.advance(5 * MINUTE)
        assert passkey.take() is None


@pytest.mark.parametrize(
    ("url", "party"),
    [
        ("http://localhost:8600", "localhost"), ("https://connect.example.com", "connect.example.com"),
        ("http://connect.example.com", None), ("http://127.0.0.1:8600", None), ("https://192.0.2.7", None),
        ("https://[2001:db8::1]", None),
    ],
)  # fmt: skip
def test_the_site_that_passkeys_are_for(make_stage: Any, url: str, party: str | None) -> None:
    with make_stage(PATCHBAY_PUBLIC_URL=url).request():
        site = passkey.relying_party()
    assert (site and (site.id, site.origin)) == (party and (party, url))


@pytest.fixture
def device(stage: Any) -> Authenticator:
    """Alice's."""
    device, challenge = Authenticator(), challenges.new()
    site = RelyingParty("localhost", "http://localhost")
    passkeys.add(stage.store, stage.clock, site, stage.alice, challenge, device.create(challenge), "Phone")
    return device


def post(browser: Any, path: str, **body: Any) -> Any:
    """As the script sends it."""
    token = re.findall(r'name="csrf_token" value="([^"]+)"', browser.get("/sign-in").text)
    return browser.client.post(path, json=body, headers={"X-CSRFToken": token[0] if token else ""})


def test_a_device_signs_in(stage: Any, device: Authenticator) -> None:
    browser = stage.browser()
    assert 'data-passkey="get"' in browser.get("/sign-in").text
    options = post(browser, "/sign-in/passkey/options").json
    answer = device.get(base64url_to_bytes(options["challenge"]))
    done = post(browser, "/sign-in/passkey", credential=answer, next="/accounts")
    assert done.json == {"url": "/accounts"} and browser.get("/settings").status_code == 200
    names = [value.partition("=")[0] for value in done.headers.getlist("Set-Cookie")]
    assert {"patchbay_session", "patchbay_device"} <= set(names)
    other = stage.browser()
    assert post(other, "/sign-in/passkey", credential=answer).status_code == 422
    assert post(other, "/sign-in/passkey", credential="x").status_code == 400
    assert other.client.post("/sign-in/passkey", json={"credential": answer}).status_code == 400, "no form token"


def test_who_is_disabled_or_late_is_told_so(stage: Any, device: Authenticator) -> None:
    users.create(stage.store, stage.clock, email="bob@example.com", password="a long password", role="owner")
    browser = stage.browser()
    late = device.get(base64url_to_bytes(post(browser, "/sign-in/passkey/options").json["challenge"]))
    stage.clock.advance(5 * MINUTE)
    assert "too long" in post(browser, "/sign-in/passkey", credential=late).json["error"]
    with stage.store.write() as tx:
        users.set_enabled(tx, stage.clock(), stage.alice, False)
    answer = device.get(base64url_to_bytes(post(browser, "/sign-in/passkey/options").json["challenge"]))
    assert "disabled" in post(browser, "/sign-in/passkey", credential=answer).json["error"]
    assert browser.get("/settings").status_code == 303


def test_where_browsers_have_none_there_is_none(make_stage: Any) -> None:
    stage = make_stage(PATCHBAY_PUBLIC_URL="http://127.0.0.1")
    client = stage.app.test_client()
    page = client.get("/sign-in", base_url="http://127.0.0.1").text
    token = re.findall(r'name="csrf_token" value="([^"]+)"', page)[0]
    assert "data-passkey" not in page
    headers = {"X-CSRFToken": token}
    answer = client.post("/sign-in/passkey/options", base_url="http://127.0.0.1", headers=headers)
    assert answer.status_code == 404
