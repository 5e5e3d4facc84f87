"""App overrides on the Connect Link: preset fields are applied and not asked for."""

from typing import Any

import pytest

from webapp.service.domain.accounts import accounts, app_overrides, credentials, provider_clients
from webapp.service.domain.accounts.app_overrides import AppOverride, Draft
from webapp.service.domain.projects import projects

FORM = "/_static/connect/keys"


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


def test_it_holds_in_a_frame_too(world: Any, browser: Any, hidden_fields: Any, override: AppOverride) -> None:
    token = world.token(allowed_origins=["https://acme.example"])
    page = browser.frame(token, f"&app=sandbox_basic&appOverrideId={override.id}")
    sent = {**hidden_fields(page.text, FORM), "cf_api_key": world.sandbox.key()}
    assert sent["appOverrideId"] == override.id and "cf_account_id" not in page.text
    assert "Connected" in browser.post(FORM, sent).text
    assert kept(world)["account_id"] == "acct_ada"


def test_one_that_is_gone_or_of_another_app_ends_the_link(world: Any, browser: Any, override: AppOverride) -> None:
    other = projects.create(world.service, name="Other")
    app = world.service.catalog.app("sandbox_basic")
    theirs = app_overrides.create(world.service, other.id, app, Draft("Theirs", None, {}))
    for query in (link(override, "&app=sandbox_keys"), link(theirs), "&connectLink=true&appOverrideId=aov_none"):
        page = browser.open(world.token(), query)
        assert page.status_code == 404 and "This link cannot be used" in page.text


def test_it_names_the_client_of_an_oauth_app(world: Any, browser: Any, project: Any) -> None:
    provider_clients.add(world.service, app="sandbox", client_id="newest", client_secret="s", project_id=project.id)
    chosen = provider_clients.choose(world.service.store, project.id, "sandbox", provider_clients.SANDBOX_ID)
    assert chosen is not None
    app = world.service.catalog.app("sandbox")
    override = app_overrides.create(world.service, project.id, app, Draft("Shared", chosen.id, {}))
    started = browser.start(browser.open(world.token(), link(override)))
    assert "client_id=patchbay" in started.headers["Location"]
