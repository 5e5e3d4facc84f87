"""Which accounts a call of a component may use: its user's alone, of the app that the prop names."""

from collections.abc import Callable

import pytest

from webapp.errors import Invalid, NotFound
from webapp.service.domain.accounts import credentials, lifecycle
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants
from webapp.service.domain.components.grants import AccountUnusable
from webapp.service.domain.projects.projects import Scene

Plant = Callable[..., Account]
PROP = {"name": "account", "type": "app", "app": "tinykeys"}


def test_an_account_is_its_users_and_of_the_props_app(service: Service, scene: Scene, plant: Plant) -> None:
    account, other = plant("alice"), plant("alice", app="tinyoauth")
    assert grants.find_accounts(service, scene, "alice", [PROP], {"account": account.id}) == {"account": account}
    for user in ("bob", "nobody"):
        with pytest.raises(NotFound):
            grants.find_accounts(service, scene, user, [PROP], {"account": account.id})
    with pytest.raises(Invalid, match="It must be an account of"):
        grants.find_accounts(service, scene, "alice", [PROP], {"account": other.id})


def test_the_refresh_token_stays_here(service: Service, plant: Plant) -> None:
    values = {credentials.ACCESS_TOKEN: "a", credentials.REFRESH_TOKEN: "r", credentials.UID: "u"}
    account = plant(app="tinyoauth", values=values)
    grant = grants.grant_accounts(service, {"account": account}, None).accounts["account"]
    assert grant.values == {credentials.ACCESS_TOKEN: "a", credentials.UID: "u"}
    assert grant.secrets == (credentials.ACCESS_TOKEN,)


def test_a_dead_account_is_refused_with_a_sentence(service: Service, plant: Plant) -> None:
    dead = lifecycle.mark_dead(service, plant(name="Work"), "The key was revoked.")
    with pytest.raises(AccountUnusable, match="account Work no longer works; reconnect it"):
        grants.fresh(service, dead)
