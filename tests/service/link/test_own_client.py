"""A person's own OAuth client: asked for where the link says so, and used for that person alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.service.link.conftest import CALLBACK, CLIENT_SECRET, FORM
from webapp.kit.clock import DAY
from webapp.kit.cursors import Window
from webapp.service.domain.accounts import accounts, credentials, oauth_apps
from webapp.service.link import own_client

QUERY = "&connectLink=true&app=sandbox&customOauthClient=true"


def enter(browser: Any, page: Any, hidden_fields: Any, client_id: str = "patchbay", secret: str = CLIENT_SECRET) -> Any:
    typed = {"cf_oauth_client_id": client_id, "cf_oauth_client_secret": secret}
    return browser.post(FORM, {**hidden_fields(page.text, FORM), **typed})


def test_an_account_is_connected_with_the_persons_own_client(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = browser.open(world.token(), QUERY)
    assert page.status_code == 200 and "Client secret" in page.text and CALLBACK in page.text
    entered = enter(browser, page, hidden_fields)
    assert entered.status_code == 200 and CLIENT_SECRET not in entered.text
    browser.callback(entered)
    account = accounts.get(world.service.store, world.scene, world.accounts()[0].id)
    client = oauth_apps.get(world.service.store, str(account.oauth_app_id))
    assert (client.client_id, client.external_user_id) == ("patchbay", account.external_user_id)
    assert credentials.for_developer(world.service, account) is None, "it is not the developer's own"
    assert "oauth_client_id" not in credentials.read(world.service, account)
    filters = oauth_apps.OAuthAppFilter()
    assert not oauth_apps.page(world.service.store, world.project.id, filters, Window()).items
    world.clock.advance(2 * DAY)
    assert oauth_apps.purge(world.service) == 0, "an account uses it"


def test_reconnecting_uses_it_again_and_nobody_else_may(world: Any, browser: Any, hidden_fields: Any) -> None:
    browser.callback(enter(browser, browser.open(world.token(), QUERY), hidden_fields))
    (account,) = world.accounts()
    browser.callback(browser.open(world.token(), f"&connectLink=true&accountId={account.id}"))
    (again,) = world.accounts()
    assert (again.id, again.oauth_app_id) == (account.id, account.oauth_app_id)
    link = f"&connectLink=true&app=sandbox&oauthAppId={again.oauth_app_id}"
    stranger = world.browser().open(world.token("bob"), link)
    assert stranger.status_code == 404 and "data-start" not in stranger.text


def test_an_app_without_a_client_can_be_connected_so(world: Any, browser: Any) -> None:
    assert browser.open(world.token(), "&connectLink=true&app=github").status_code == 409
    page = browser.open(world.token(), "&connectLink=true&app=github&customOauthClient=true")
    assert page.status_code == 200 and "cf_oauth_client_id" in page.text and "developer console" in page.text


def test_what_is_missing_is_named_and_a_secret_is_not_sent_back(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = browser.open(world.token(), QUERY)
    refused = enter(browser, page, hidden_fields, client_id="", secret="canary-secret")
    assert refused.status_code == 422 and "Enter the Client ID." in refused.text
    assert "canary-secret" not in refused.text
    rows = world.service.store.all("SELECT id FROM provider_clients WHERE external_user_id IS NOT NULL")
    assert rows == []


@pytest.mark.parametrize(
    ("parameter", "app", "brought"),
    [
        ("true", SimpleNamespace(oauth=SimpleNamespace(own_clients=True)), True),
        ("1", SimpleNamespace(oauth=SimpleNamespace(own_clients=True)), True),
        ("false", SimpleNamespace(oauth=SimpleNamespace(own_clients=True)), False),
        ("true", SimpleNamespace(oauth=SimpleNamespace(own_clients=False)), False),
        ("true", SimpleNamespace(oauth=None), False),
    ],
)
def test_only_apps_that_allow_it(parameter: str, app: Any, brought: bool) -> None:
    visit: Any = SimpleNamespace(parameters={"customOauthClient": parameter})
    assert own_client.is_brought(visit, app) is brought
