"""Signing in to the dashboard at a certified OpenID provider that nobody here wrote, over real HTTP."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.fakes.browser import Browser
from tests.fakes.installation import Installation
from tests.fakes.ports import free_port
from tests.peers.conftest import CLIENT_ID, CLIENT_SECRET, peer_for
from webapp.people import users

pytestmark = pytest.mark.peer


@pytest.fixture
def installation(data: Path) -> Iterator[Installation]:
    """An installation whose people sign in at the peer, where the group "staff" are developers."""
    port = free_port()
    with peer_for(f"http://127.0.0.1:{port}/sign-in/oidc/callback") as peer:
        running = Installation(
            data, port=port, PATCHBAY_ALLOW_HOSTS=peer.issuer.removeprefix("http://"), PATCHBAY_OIDC_ISSUER=peer.issuer,
            PATCHBAY_OIDC_CLIENT_ID=CLIENT_ID, PATCHBAY_OIDC_CLIENT_SECRET=CLIENT_SECRET, PATCHBAY_OIDC_NAME="Acme",
            PATCHBAY_OIDC_SCOPES="openid email groups", PATCHBAY_OIDC_ROLES="staff=developer",
        ).start()  # fmt: skip
        try:
            service = running.service
            users.create(service.store, service.clock, email="olga@example.com", password="a long one", role="owner")
            yield running
        finally:
            running.stop()


def test_somebody_of_a_group_comes_in_and_an_answer_counts_once(installation: Installation) -> None:
    browser = Browser(installation.url)
    try:
        assert "Continue with Acme" in browser.visit(f"{installation.url}/sign-in").text
        begun = browser.get(f"{installation.url}/sign-in/oidc?next=/settings")
        back = browser.follow(browser.get(begun.location), until=installation.url)
        assert {"code", "state", "iss"} <= parse_qs(urlsplit(back.location).query).keys()
        page = browser.visit(back.location)
        assert page.status == 200 and "You sign in by Acme." in page.text and "ada@example.com" in page.text
        ada = users.by_email(installation.service.store, "ada@example.com")
        assert ada and ada.role == "developer"
        assert browser.visit(back.location).status == 403

        begun = browser.get(f"{installation.url}/sign-in/oidc")
        back = browser.follow(browser.get(begun.location), until=installation.url)
        parts = urlsplit(back.location)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        foreign = parts._replace(query=urlencode({**query, "iss": "https://evil.example.com"})).geturl()
        assert "belongs to another sign-in" in browser.visit(foreign).text
    finally:
        browser.close()
