"""Connecting, refreshing and losing an account at a certified OpenID provider that nobody here wrote.

It requires PKCE, rotates refresh tokens (using one twice revokes the grant), gives access tokens of one minute and
sends ``iss`` (RFC 9207). Everything goes over real HTTP, through the Connect Link's own pages.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.fakes.browser import Browser, Page

pytestmark = pytest.mark.peer


@pytest.fixture
def browser(meeting: Any) -> Iterator[Browser]:
    """A person's browser."""
    made = Browser(meeting.installation.url)
    yield made
    made.close()


def begin(meeting: Any, browser: Browser) -> Page:
    """From the product's link to the provider: the redirect that leads there."""
    installation = meeting.installation
    page = browser.visit(installation.link(installation.token(), "oidc"))
    started = browser.get(page.start_link())
    assert started.status == 303, started.text
    return started


def come_back(meeting: Any, browser: Browser, started: Page) -> str:
    """Sign in and consent at the provider: the address that it sends the browser back to."""
    home = meeting.installation.url
    back = browser.follow(browser.get(started.location), until=home)
    assert back.status == 303 and back.location.startswith(f"{home}/connect/oauth/callback?"), back.text
    return back.location


def connected(meeting: Any, browser: Browser) -> dict[str, Any]:
    """A new account, as a server of the developer's sees it."""
    ended = browser.visit(come_back(meeting, browser, begin(meeting, browser)))
    assert ended.status == 200 and "connected" in ended.text.lower(), ended.text
    (account,) = meeting.installation.accounts()
    return shown(meeting, account.id)


def shown(meeting: Any, account_id: str, server: str | None = None) -> dict[str, Any]:
    path = f"accounts/{account_id}?include_credentials=true&extensions=true"
    answer = meeting.installation.api("GET", path, server or meeting.installation.server_token())
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_an_account_with_identity_and_working_credentials(meeting: Any, browser: Browser) -> None:
    account = connected(meeting, browser)
    assert account["identity"] == {"id": "ada", "name": "Ada"}
    assert (account["healthy"], account["dead"], account["error"]) == (True, False, None)
    assert set(account["authorized_scopes"]) == {"openid", "profile"}
    credentials = account["credentials"]
    assert credentials["oauth_uid"] == "ada"
    assert meeting.peer.knows(credentials["oauth_access_token"])
    assert meeting.peer.count("grant.success", "authorization_code") == 1


def test_fifty_calls_on_an_expired_account_cause_one_refresh(meeting: Any, browser: Browser) -> None:
    account, server = connected(meeting, browser), meeting.installation.server_token()
    before = account["credentials"]
    meeting.later(120)
    assert not meeting.peer.knows(before["oauth_access_token"])
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: shown(meeting, account["id"], server), range(50)))
    assert meeting.peer.count("grant.success", "refresh_token") == 1
    assert meeting.peer.count("grant.error") == 0
    (access,) = {answer["credentials"]["oauth_access_token"] for answer in answers}
    (refresh,) = {answer["credentials"]["oauth_refresh_token"] for answer in answers}
    assert access != before["oauth_access_token"] and refresh != before["oauth_refresh_token"]
    assert meeting.peer.knows(access)
    assert all(answer["healthy"] and not answer["dead"] for answer in answers)


def test_the_rotated_token_works_again_and_again(meeting: Any, browser: Browser) -> None:
    account, seen = connected(meeting, browser), set()
    for _ in range(3):
        meeting.later(120)
        credentials = shown(meeting, account["id"])["credentials"]
        assert meeting.peer.knows(credentials["oauth_access_token"])
        seen.add(credentials["oauth_refresh_token"])
    assert len(seen) == 3
    assert meeting.peer.count("grant.success", "refresh_token") == 3


def test_a_grant_that_was_taken_back_leaves_a_dead_account_that_says_so(meeting: Any, browser: Browser) -> None:
    account = connected(meeting, browser)
    meeting.peer.revoke(account["credentials"]["oauth_refresh_token"])
    meeting.later(120)
    after = shown(meeting, account["id"])
    assert (after["dead"], after["healthy"]) == (True, False)
    assert after["error"].endswith("Connect the account again.")
    tried = meeting.peer.count("grant.error", "refresh_token")
    assert tried == 1
    shown(meeting, account["id"])
    assert meeting.peer.count("grant.error", "refresh_token") == tried


def test_revoking_here_ends_the_grant_there(meeting: Any, browser: Browser) -> None:
    account = connected(meeting, browser)
    answer = meeting.installation.api("POST", f"accounts/{account['id']}/revoke", meeting.installation.server_token())
    assert answer.status_code == 200 and answer.json()["dead"] is True
    assert not meeting.peer.knows(account["credentials"]["oauth_access_token"])
    assert meeting.peer.count("grant.revoked") == 1


@pytest.mark.parametrize("iss", [None, "https://evil.example.com", ""], ids=["absent", "foreign", "empty"])
def test_an_answer_of_another_issuer_is_refused(meeting: Any, browser: Browser, iss: str | None) -> None:
    parts = urlsplit(come_back(meeting, browser, begin(meeting, browser)))
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert query["iss"] == meeting.peer.issuer
    changed = {name: value for name, value in {**query, "iss": iss}.items() if value is not None}
    ended = browser.visit(parts._replace(query=urlencode(changed)).geturl())
    assert "The response did not come from" in ended.text
    assert meeting.installation.accounts() == []
    assert meeting.peer.count("grant.success") == 0


def test_the_provider_refuses_a_start_without_pkce(meeting: Any, browser: Browser) -> None:
    """So that the flow above proves that PKCE is sent and understood."""
    parts = urlsplit(begin(meeting, browser).location)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert query["code_challenge_method"] == "S256"
    bare = {name: value for name, value in query.items() if not name.startswith("code_challenge")}
    answer = browser.get(parts._replace(query=urlencode(bare)).geturl())
    assert "error=invalid_request" in answer.location
    ended = browser.visit(answer.location)
    assert "PKCE" in ended.text
    assert meeting.installation.accounts() == []
