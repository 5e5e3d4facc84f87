"""The accounts of a call: the user's only, of the app that the prop names, and without what stays here."""

from collections.abc import Callable

import pytest

from webapp.errors import Invalid, NotFound
from webapp.service.domain.accounts import account_state, credentials
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants
from webapp.service.domain.components.account_grants import AccountUnusable
from webapp.service.domain.projects.projects import Scene

Plant = Callable[..., Account]
PROP = {"name": "account", "type": "app", "app": "tinykeys"}


def test_an_account_is_its_users_and_of_the_props_app(service: Service, scene: Scene, plant: Plant) -> None:
    account, other = plant("alice"), plant("alice", app="tinyoauth")
    assert account_grants.find_accounts(service, scene, "alice", [PROP], {"account": account.id}) == {
        "account": account
    }
    for user in ("bob", "nobody"):
        with pytest.raises(NotFound):
            account_grants.find_accounts(service, scene, user, [PROP], {"account": account.id})
    with pytest.raises(Invalid, match="It must be an account of"):
        account_grants.find_accounts(service, scene, "alice", [PROP], {"account": other.id})


def test_the_refresh_token_stays_here(service: Service, plant: Plant) -> None:
    values = {credentials.ACCESS_TOKEN: "a", credentials.REFRESH_TOKEN: "r", credentials.UID: "u"}
    account = plant(app="tinyoauth", values=values)
    grant = account_grants.grant(service, {"account": account}, None).accounts["account"]
    assert grant.values == {credentials.ACCESS_TOKEN: "a", credentials.UID: "u"}
    assert grant.secrets == (credentials.ACCESS_TOKEN,)


def test_what_a_sign_in_keeps_is_secret_unless_the_app_shows_it(service: Service) -> None:
    highlevel, docusign = service.catalog.app("gohighlevel"), service.catalog.app("docusign")
    assert highlevel is not None
    assert docusign is not None
    token = {credentials.ACCESS_TOKEN: "a"}
    assert account_grants.of_values(highlevel, {**token, "location_id": "L1"}).secrets == (credentials.ACCESS_TOKEN,)
    values = {"environment": "account.docusign.com", "base_uri": "https://eu.docusign.net", "account_id": "7"}
    assert account_grants.of_values(docusign, {**token, **values}).secrets == (
        credentials.ACCESS_TOKEN,
        "base_uri",
        "account_id",
    )


def test_a_dead_account_is_refused_with_a_sentence(service: Service, plant: Plant) -> None:
    dead = account_state.mark_dead(service, plant(name="Work"), "The key was revoked.")
    with pytest.raises(AccountUnusable, match="account Work no longer works; reconnect it"):
        account_grants.fresh(service, dead)
