"""The form of an app's fields: what it asks for, what it shows again, what an override presets, and a person's own
OAuth client where the link asks for one.
"""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from flask import template_rendered

from tests.service.link.conftest import CALLBACK, CLIENT_SECRET, FORM, opened
from webapp.errors import Conflict
from webapp.kit.clock import DAY
from webapp.kit.cursors import Window
from webapp.service.catalog.sources import BUILT_IN
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import accounts, app_overrides, credentials, health, oauth_apps, token_refresh
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.app_overrides import AppOverride, Draft
from webapp.service.domain.components import account_grants
from webapp.service.link import forms
from webapp.service.link.visit import Visit

QUERY = "&connectLink=true&app=sandbox&customOauthClient=true"


@pytest.fixture
def override(world: Any, project: Any) -> AppOverride:
    """The account id of Sandbox Basic, preset."""
    app = world.service.catalog.app("sandbox_basic")
    return app_overrides.create(world.service, project.id, app, Draft("Ada's", None, {"account_id": "acct_ada"}))


def link(override: AppOverride, more: str = "") -> str:
    return f"&connectLink=true&appOverrideId={override.id}{more}"


def kept(world: Any) -> dict[str, str]:
    """The credentials of the only account."""
    (account,) = world.accounts()
    return credentials.read(world.service, accounts.get(world.service.store, account.scene, account.id))


def test_a_preset_field_is_hidden_and_cannot_be_replaced(
    world: Any, browser: Any, hidden_fields: Any, override: AppOverride
) -> None:
    page = browser.open(world.token(), link(override))
    assert 'name="cf_api_key"' in page.text and "cf_account_id" not in page.text and "acct_ada" not in page.text
    sent = {**hidden_fields(page.text, FORM), "cf_account_id": "acct_evil", "cf_api_key": world.sandbox.key()}
    assert "Connected" in browser.post(FORM, sent).text
    assert kept(world)["account_id"] == "acct_ada"


def test_who_reconnects_enters_the_secret_only(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser, "sandbox_basic")
    fields = {**hidden_fields(page.text, FORM), "cf_account_id": "acct_ada", "cf_api_key": world.sandbox.key()}
    assert "Connected" in browser.post(FORM, fields).text
    (account,) = world.accounts()
    page = browser.open(world.token(), f"&connectLink=true&accountId={account.id}")
    assert 'value="acct_ada"' in page.text and world.sandbox.key() not in page.text


def test_it_holds_in_a_frame_too(world: Any, browser: Any, hidden_fields: Any, override: AppOverride) -> None:
    token = world.token(allowed_origins=["https://acme.example"])
    page = browser.frame(token, f"&app=sandbox_basic&appOverrideId={override.id}")
    sent = {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key()}
    assert sent["appOverrideId"] == override.id and "cf_account_id" not in page.text
    assert "Connected" in browser.post(FORM, sent).text
    assert kept(world)["account_id"] == "acct_ada"


def test_it_names_the_client_of_an_oauth_app(world: Any, browser: Any, project: Any) -> None:
    oauth_apps.add(world.service, app="sandbox", client_id="newest", client_secret="s", project_id=project.id)
    chosen = oauth_apps.choose(world.service.store, project.id, "sandbox", oauth_apps.SANDBOX_ID)
    assert chosen is not None
    app = world.service.catalog.app("sandbox")
    override = app_overrides.create(world.service, project.id, app, Draft("Shared", chosen.id, {}))
    started = browser.start(browser.open(world.token(), link(override)))
    assert "client_id=patchbay" in started.headers["Location"]


def test_the_form_shows_each_field_with_its_help(world: Any, browser: Any) -> None:
    page = opened(world, browser).text
    assert 'name="cf_account_id"' in page and 'name="cf_api_key"' in page
    assert 'type="password"' in page and "Where do I find this?" in page and "Begins with acct_" in page


def test_wrong_keys_are_named_and_what_is_no_secret_stays(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser)
    sent = {**hidden_fields(page.text, FORM), "cf_account_id": "acct_ada", "cf_api_key": "sbx_live_wrong-canary"}
    refused = browser.post(FORM, sent)
    assert refused.status_code == 422 and world.accounts() == []
    assert 'value="acct_ada"' in refused.text and "wrong-canary" not in refused.text and 'role="alert"' in refused.text
    sent = {**hidden_fields(refused.text, FORM), "cf_account_id": "acct_ada", "cf_api_key": world.sandbox.key()}
    assert "Connected" in browser.post(FORM, sent).text


def test_an_empty_field_is_named_beside_it(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser)
    sent = {**hidden_fields(page.text, FORM), "cf_account_id": "acct_ada", "cf_api_key": " "}
    refused = browser.post(FORM, sent)
    assert refused.status_code == 422 and "Enter the API key." in refused.text and 'aria-invalid="true"' in refused.text
    sent["cf_api_key"] = world.sandbox.key()  # the same attempt is still good
    assert "Connected" in browser.post(FORM, sent).text


def test_each_field_is_entered_as_its_facts_say(world: Any, browser: Any) -> None:
    page = opened(world, browser, "postgresql").text
    port, password = (re.search(rf'<input[^>]*name="cf_{name}"[^>]*>', page) for name in ("port", "password"))
    assert port and 'type="text"' in port[0] and 'value="5432"' in port[0]
    assert password and 'type="password"' in password[0] and 'value=""' in password[0]
    choice = re.search(r'<select[^>]*name="cf_ssl_mode".*?</select>', page, re.DOTALL)
    assert choice and re.findall(r'<option value="([\w-]*)"( selected)?', choice[0]) == [
        ("verify-full", ""),
        ("require", ""),
        ("prefer", " selected"),
        ("disable", ""),
    ]


def test_a_reconnect_uses_the_client_of_the_account_while_there_is_one(world: Any, browser: Any) -> None:
    browser.callback(browser.open(world.token()))
    (account,) = world.accounts()
    other = oauth_apps.add(world.service, app="sandbox", client_id="c", client_secret="s")
    token = connect_tokens.recall(world.service.store, world.token())
    assert token is not None

    def client(account: Account | None, **parameters: str) -> str | None:
        visit = Visit(token, world.project, parameters)
        return forms.attempt_request(world.service, visit, world.service.app("sandbox"), account).oauth_app_id

    assert client(account) == account.oauth_app_id == oauth_apps.SANDBOX_ID
    assert client(account, oauthAppId=other.id) == other.id
    assert client(account._replace(oauth_app_id="oa_gone")) is None
    assert client(None) is None


def test_a_secret_is_not_even_handed_to_the_page(world: Any, browser: Any, hidden_fields: Any) -> None:
    page = opened(world, browser)
    sent = {**hidden_fields(page.text, FORM), "cf_account_id": "acct_ada", "cf_api_key": "sbx_live_wrong-canary"}
    drawn: list[dict[str, str]] = []

    def note(_: object, template: object, context: dict[str, Any]) -> None:
        drawn.append({field.name: field.value for field in context["fields"]})

    with template_rendered.connected_to(note, world.app):
        assert browser.post(FORM, sent).status_code == 422
    assert drawn == [{"cf_account_id": "acct_ada", "cf_api_key": ""}]


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


def test_the_page_that_asks_for_it_is_in_english_as_its_steps_are(world: Any, browser: Any) -> None:
    english = browser.open(world.token(), f"{QUERY}&language=de").text
    assert '<html lang="en"' in english and "Client secret" in english and "Weiter" not in english
    german = browser.open(world.token(), "&connectLink=true&app=sandbox_keys&language=de").text
    assert '<html lang="de"' in german


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
    assert forms.asks_for_client(visit, app) is brought


@pytest.fixture
def two_ways(world: Any) -> str:
    """The slug of an app of keys that people may also sign in to: both ways are the sandbox's."""
    files = {name: (BUILT_IN / name / "app.toml").read_text("utf-8") for name in ("sandbox", "sandbox_keys")}
    sign_in = re.sub(r"(?m)^(\[+)(credentials|oauth)", r"\1sign_in.\2", files["sandbox"])
    sign_in = sign_in[sign_in.index("[[sign_in.credentials]]") : sign_in.index("[test]")]
    folder = world.service.settings.data / "apps" / "tasks"
    folder.mkdir(parents=True)
    keys = files["sandbox_keys"].replace('slug = "sandbox_keys"', 'slug = "tasks"')
    (folder / "app.toml").write_text(f"{keys}\n{sign_in}")
    world.restart()
    return "tasks"


def add_client(world: Any, app: str) -> str:
    return oauth_apps.add(world.service, app=app, client_id="patchbay", client_secret=CLIENT_SECRET).id


def test_without_an_oauth_client_there_is_only_the_key(world: Any, browser: Any, two_ways: str) -> None:
    page = opened(world, browser, two_ways)
    assert 'name="cf_api_key"' in page.text and "Sign in instead" not in page.text
    asked = browser.open(world.token(), f"&connectLink=true&app={two_ways}&authType=oauth")
    assert asked.status_code == 409 and "cf_api_key" not in asked.text


def test_people_sign_in_or_enter_a_key(world: Any, browser: Any, hidden_fields: Any, two_ways: str) -> None:
    client_id = add_client(world, two_ways)
    page = opened(world, browser, two_ways)
    assert "cf_api_key" not in page.text and "Enter a key instead" in page.text
    assert "Connected" in browser.get(browser.callback(page).headers["Location"]).text
    (signed_in,) = world.accounts()
    assert (signed_in.app, signed_in.oauth_app_id, signed_in.identity_id) == (two_ways, client_id, "per_ada")
    page = opened(world, browser, two_ways)
    url = re.search(r'action="(/_static/connect/ls_\w+)"', page.text)[1]  # type: ignore[index]
    form = browser.get(f"{url}?authType=keys")
    assert "Sign in instead" in form.text
    wrong = browser.post(FORM, {**hidden_fields(form.text, FORM), "cf_api_key": "sbx_live_none"})
    assert wrong.status_code == 422 and 'name="cf_api_key"' in wrong.text
    sent = {**hidden_fields(wrong.text, FORM), "cf_api_key": world.sandbox.key(1)}
    assert "Connected" in browser.post(FORM, sent).text
    entered = next(account for account in world.accounts() if account.id != signed_in.id)
    assert (entered.app, entered.oauth_app_id, entered.healthy) == (two_ways, None, True)


def test_each_account_is_used_in_the_way_in_which_it_was_connected(
    world: Any, browser: Any, hidden_fields: Any, two_ways: str
) -> None:
    page = opened(world, browser, two_ways)
    browser.post(FORM, {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key(1)})
    (entered,) = world.accounts()
    add_client(world, two_ways)
    browser.callback(opened(world, browser, two_ways))
    (signed_in,) = (account for account in world.accounts() if account.id != entered.id)
    service = world.service
    for account, place in ((entered, "header"), (signed_in, "bearer")):
        used = accounts.get(service.store, account.scene, account.id)
        granted = account_grants.grant(service, {"app": used}, two_ways).accounts["app"]
        assert [each.kind for each in granted.placements] == [place]
        assert health.check(service, used).healthy
    renewed = token_refresh.refresh(service, accounts.get(service.store, signed_in.scene, signed_in.id))
    assert renewed.healthy and renewed.last_refreshed_at is not None
    assert health.revoke(service, renewed).dead
    with pytest.raises(Conflict):
        health.revoke(service, accounts.get(service.store, entered.scene, entered.id))


def test_an_account_is_reconnected_in_its_way_unless_the_person_chooses_the_other(
    world: Any, browser: Any, hidden_fields: Any, two_ways: str
) -> None:
    page = opened(world, browser, two_ways)
    browser.post(FORM, {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key()})
    (account,) = world.accounts()
    client_id = add_client(world, two_ways)
    again = f"&connectLink=true&accountId={account.id}"
    assert 'name="cf_api_key"' in browser.open(world.token(), again).text
    browser.callback(browser.open(world.token(), f"{again}&authType=oauth"))
    (reconnected,) = world.accounts()
    assert (reconnected.id, reconnected.oauth_app_id) == (account.id, client_id)
    assert "cf_api_key" not in browser.open(world.token(), again).text


def test_the_way_is_chosen_in_a_frame_by_a_form(world: Any, browser: Any, hidden_fields: Any, two_ways: str) -> None:
    add_client(world, two_ways)
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]), f"&app={two_ways}")
    form = browser.post("/_static/connect", {**hidden_fields(page.text), "authType": "keys"})
    done = browser.post(FORM, {**hidden_fields(form.text, FORM), "cf_api_key": world.sandbox.key()})
    assert 'data-outcome="success"' in done.text
    assert [account.oauth_app_id for account in world.accounts()] == [None]
