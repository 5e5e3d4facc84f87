"""Signing in at a certified OpenID provider in a real browser, whose policy lets the form pages lead there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.installation import Installation
from tests.fakes.ports import free_port
from tests.peers.conftest import CLIENT_ID, CLIENT_SECRET, peer_for

pytestmark = [pytest.mark.browser, pytest.mark.peer]


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    port = free_port()
    with peer_for(f"http://127.0.0.1:{port}/sign-in/oidc/callback") as peer:
        running = Installation(
            tmp_path / "data", port=port, PATCHBAY_ALLOW_HOSTS=peer.issuer.removeprefix("http://"),
            PATCHBAY_OIDC_ISSUER=peer.issuer, PATCHBAY_OIDC_CLIENT_ID=CLIENT_ID, PATCHBAY_OIDC_NAME="Acme",
            PATCHBAY_OIDC_CLIENT_SECRET=CLIENT_SECRET, PATCHBAY_OIDC_SCOPES="openid email groups",
            PATCHBAY_OIDC_ROLES="staff=owner", PATCHBAY_OIDC_REQUIRED="on",
        ).start()  # fmt: skip
        try:
            yield running
        finally:
            running.stop()


def test_a_person_comes_in_by_the_provider_and_leaves(contexts: Any, installation: Installation, axe: Any) -> None:
    page = contexts().new_page()
    page.goto(f"{installation.url}/settings")
    assert axe(page) == [] and page.get_by_label("Password").count() == 0
    page.get_by_role("link", name="Continue with Acme").click()
    page.get_by_text("You sign in by Acme.").wait_for()
    assert axe(page) == [] and page.get_by_text("ada@example.com").count() >= 1
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_text("You are signed out.").wait_for()
    page.get_by_role("link", name="Sign out of Acme, too").wait_for()
    assert axe(page) == []
    page.goto(f"{installation.url}/sign-in/oidc/callback?code=a&state=b")
    page.get_by_role("heading", name="You are not signed in").wait_for()
    assert axe(page) == []
