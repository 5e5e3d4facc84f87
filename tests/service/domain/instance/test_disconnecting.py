"""Disconnecting an account: its triggers unsubscribe and are switched off with the reason, and nothing else is."""

from collections.abc import Callable
from typing import Any

from tests.fakes.triggers import deploy
from webapp.service.domain.accounts import accounts
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import disconnecting
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers

Plant = Callable[..., Account]


def test_what_worked_with_the_account_stops(service: Service, scene: Scene, plant: Plant, provider: Any) -> None:
    account, other = plant(name="Work"), plant()
    stopped, goes_on = (
        deploy(service, scene, given={"account": {"authProvisionId": one.id}}) for one in (account, other)
    )
    disconnecting.delete(service, account)
    after = deployed_triggers.get(service.store, scene, stopped.id)
    assert not after.active and "account Work was disconnected" in (after.switched_off or "")
    assert deployed_triggers.get(service.store, scene, goes_on.id).active


def test_all_accounts_of_an_app(service: Service, scene: Scene, plant: Plant) -> None:
    plant("alice"), plant("bob"), plant("alice", app="tinyoauth")
    assert disconnecting.delete_of_app(service, scene, "tinykeys", user=None) == 2
    left = accounts.of_app(service.store, scene, "tinyoauth", user=None)
    assert len(left) == 1 and accounts.of_app(service.store, scene, "tinykeys", user=None) == []
