"""The start of a sign-in against the real sandbox: what is asked for, and who may not be sent there."""

import re
from html import unescape
from typing import Any

import pytest

from tests.fakes.hosted_servers import lead_to, play
from tests.fakes.mcp_server import serving
from tests.service.link.conftest import CALLBACK, query
from webapp.kit.clock import HOUR
from webapp.service.domain.accounts import oauth_apps, provider_scopes
from webapp.service.outbound import oauth
from webapp.service.outbound.oauth_failures import OAuthFailure


def test_the_read_only_profile_asks_for_less(world: Any, browser: Any) -> None:
    begun = browser.start(browser.open(world.token()), profile="read_only")
    assert query(begun.headers["Location"])["scope"] == "profile tasks:read"
    browser.get(world.sandbox.decide(begun.headers["Location"]))
    (account,) = world.accounts()
    assert account.scope_profile == "read_only" and account.authorized_scopes == ("profile", "tasks:read")


def test_a_profile_may_sign_in_another_way(world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    oauth_apps.add(world.service, app="slack", client_id="1.2", client_secret="s")
    begun = browser.start(browser.open(world.token(), "&connectLink=true&app=slack"), profile="bot")
    asked = query(begun.headers["Location"])
    assert "chat:write" in asked["scope"].split(",") and "user_scope" not in asked
    exchanged = []

    def exchange(client: Any, provider: Any, **sent: str) -> OAuthFailure:
        exchanged.append(provider)
        return OAuthFailure("grant_dead", "No.")

    monkeypatch.setattr(oauth, "exchange_code", exchange)
    browser.get(f"{asked['redirect_uri']}?code=c&state={asked['state']}")
    assert [provider.token_at for provider in exchanged] == [""]


def test_a_link_starts_once(world: Any, browser: Any) -> None:
    page = browser.open(world.token())
    assert browser.start(page).status_code == 303
    again = browser.start(page)
    assert again.status_code == 400 and "can no longer be used" in again.text


def test_nobody_is_sent_past_the_page_that_asks(world: Any, browser: Any) -> None:
    page = browser.open(world.token())
    url = re.search(r'data-start href="([^"]*)"', page.text)[1].replace("&amp;", "&")  # type: ignore[index]
    assert browser.get(url, sec_fetch_site="cross-site").status_code == 400
    assert browser.start(page).status_code == 303  # it was not used up


def test_an_expired_link_starts_nothing(world: Any, browser: Any) -> None:
    page = browser.open(world.token())
    world.clock.advance(5 * HOUR)
    late = browser.start(page)
    assert late.status_code == 401 and "This link has expired" in late.text


@pytest.mark.parametrize("method", ["head", "options"])
def test_a_preview_uses_nothing_up(world: Any, browser: Any, method: str) -> None:
    page = browser.open(world.token())
    url = re.search(r'data-start href="([^"]*)"', page.text)[1].replace("&amp;", "&")  # type: ignore[index]
    getattr(browser.client, method)(url, base_url="http://localhost:8600")
    assert browser.start(page).status_code == 303


def test_reconnecting_asks_for_what_the_account_had(world: Any, browser: Any) -> None:
    begun = browser.start(browser.open(world.token()), profile="read_only")
    browser.get(world.sandbox.decide(begun.headers["Location"]))
    (account,) = world.accounts()
    page = browser.open(world.token(), f"&connectLink=true&accountId={account.id}")
    assert re.search(r'value="read_only" checked', page.text)


def reduced(world: Any, browser: Any) -> Any:
    """An account that may read only."""
    begun = browser.start(browser.open(world.token()), profile="read_only")
    browser.get(world.sandbox.decide(begun.headers["Location"]))
    (account,) = world.accounts()
    return account


def test_what_an_action_needs_is_asked_for_besides_when_an_account_is_reconnected(
    world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_scopes, "alternatives", lambda path: (("tasks:write",),))
    account = reduced(world, browser)
    link = f"&connectLink=true&accountId={account.id}"
    plain = browser.open(world.token(), link)
    assert "tasks:write" not in plain.text
    page = browser.open(world.token(), f"{link}&action=sandbox-create-task")
    assert "“Create task” needs tasks:write." in unescape(page.text)
    assert 'name="access"' not in page.text  # there is nothing to choose: it is what the account has, and more
    begun = browser.start(page, profile="read_only")
    assert query(begun.headers["Location"])["scope"] == "profile tasks:read tasks:write"
    browser.get(world.sandbox.decide(begun.headers["Location"]))
    (wider,) = world.accounts()
    assert (wider.id, wider.scope_profile) == (account.id, "read_only")
    assert wider.authorized_scopes == ("profile", "tasks:read", "tasks:write")
    again = browser.open(world.token(), f"{link}&action=sandbox-create-task").text
    assert "needs tasks:write" not in again


def test_a_client_that_may_not_ask_for_it_says_so_and_asks_for_what_it_always_does(
    world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_scopes, "alternatives", lambda path: (("webhooks",),))
    account = reduced(world, browser)
    with world.service.store.write() as tx:
        tx.run("UPDATE provider_clients SET scopes = :scopes", {"scopes": '["profile", "tasks:read"]'})
    page = browser.open(world.token(), f"&connectLink=true&accountId={account.id}&action=sandbox-create-task")
    assert "This product may not ask for webhooks, which “Create task” needs." in unescape(page.text)
    begun = browser.start(page, profile="read_only")
    assert query(begun.headers["Location"])["scope"] == "profile tasks:read"


def test_the_first_who_signs_in_to_a_hosted_server_needs_nobody(
    world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody made a client for it: it registers itself at what the server says when the person goes there."""
    link = "&connectLink=true&app=linear_mcp"
    with serving(key="right") as server:
        lead_to(monkeypatch, world.service, server)
        page = browser.open(world.token(), link)
        assert server.asked == []  # a page that is only looked at asks nobody
        play(server, "https://mcp.linear.app/mcp", registration_endpoint="")
        refused = browser.start(page, profile="")
        assert "does not say right now where people sign in" in unescape(refused.text)
        play(server, "https://mcp.linear.app/mcp")
        begun = browser.start(browser.open(world.token(), link), profile="")
    asked = query(begun.headers["Location"])
    assert begun.headers["Location"].startswith("https://mcp.linear.app/authorize?")
    assert (asked["client_id"], asked["resource"]) == ("client-1", "https://mcp.linear.app/mcp")
    assert asked["redirect_uri"] == f"{CALLBACK}/mcp.linear.app"
