"""Passkeys in a real browser, whose device is Chromium's virtual authenticator."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.person import PASSWORD, Person
from tests.fakes.served import Served, served

pytestmark = pytest.mark.browser

DEVICE = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "data") as product:
        yield product


def test_a_person_adds_a_passkey_and_signs_in_with_it(contexts: Any, fresh: Served, axe: Any) -> None:
    page = contexts().new_page()
    ada = Person(page, fresh)
    device = page.context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    key = device.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]
    ada.sign_up(fresh.start_url)
    page.goto(f"{fresh.url}/settings")
    card = page.locator("#passkeys")
    assert card.get_by_label("Name").input_value().startswith("Chrome")
    card.get_by_label("Name").fill("My laptop")
    card.get_by_label("Current password", exact=True).fill("not this one")
    card.get_by_role("button", name="Add a passkey").click()
    card.get_by_role("alert").get_by_text("That is not your password now").wait_for()
    card.get_by_label("Current password", exact=True).fill(PASSWORD)
    card.get_by_role("button", name="Add a passkey").click()
    page.get_by_role("button", name="Remove My laptop").wait_for()
    assert axe(page) == []
    card.get_by_label("Current password", exact=True).fill(PASSWORD)
    card.get_by_role("button", name="Add a passkey").click()
    card.get_by_role("alert").get_by_text("has a passkey here already").wait_for()
    page.get_by_role("button", name="Sign out", exact=True).click()

    page.goto(f"{fresh.url}/accounts")
    use = page.get_by_role("button", name="Use a passkey")
    use.wait_for()
    assert axe(page) == []
    device.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": False})
    use.click()
    page.get_by_role("alert").get_by_text("No passkey was used.").wait_for()
    device.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": True})
    use.click()
    ada.heading("Accounts")
    page.goto(f"{fresh.url}/settings")
    assert "Last used" in page.locator("#passkeys li").inner_text()
