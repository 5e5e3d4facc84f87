"""Why a trigger waits: its account needs its person, or what it runs was removed."""

from collections.abc import Callable
from dataclasses import replace

from tests.fakes.deployed import plant_trigger
from tests.fakes.triggers import deploy
from webapp.service.domain.accounts import account_state
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import trigger_accounts, waiting_triggers
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

Plant = Callable[..., Account]


def use(service: Service, trigger: DeployedTrigger, account: Account) -> None:
    with service.store.write() as tx:
        trigger_accounts.set_accounts(tx, trigger.id, {"account": account.id})


def test_a_trigger_waits_while_its_account_is_dead(service: Service, scene: Scene, plant: Plant) -> None:
    trigger, other, account = plant_trigger(service, scene), plant_trigger(service, scene), plant()
    use(service, trigger, account)
    ids = [trigger.id, other.id]
    assert waiting_triggers.of_dead_accounts(service.store, ids) == set()
    account_state.mark_dead(service, account, "The key was revoked.")
    assert waiting_triggers.of_dead_accounts(service.store, ids) == {trigger.id}
    assert waiting_triggers.of_dead_accounts(service.store, []) == set()


def test_a_trigger_whose_app_was_removed_waits(service: Service, scene: Scene, plant: Plant) -> None:
    trigger, account = deploy(service, scene), plant()
    assert waiting_triggers.reasons(service, [trigger]) == {}
    use(service, trigger, account)
    account_state.mark_dead(service, account, "The key was revoked.")
    assert waiting_triggers.reasons(service, [trigger]) == {trigger.id: waiting_triggers.ACCOUNT_NEEDED}
    gone = replace(trigger, component_key="card_shop-new-order", app="card_shop")
    sentence = "It waits, because Card Shop was removed from this service. It continues when the app is added back."
    assert waiting_triggers.reasons(service, [gone]) == {gone.id: sentence}
