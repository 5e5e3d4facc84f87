"""The accounts that triggers work with, by prop, and what becomes of a trigger whose account is removed."""

from collections.abc import Callable

from tests.fakes.deployed import plant_trigger
from webapp.kit import cursors
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, trigger_accounts
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

Plant = Callable[..., Account]


def use(service: Service, trigger: DeployedTrigger, **by_prop: Account) -> None:
    with service.store.write() as tx:
        trigger_accounts.set_accounts(tx, trigger.id, {prop: account.id for prop, account in by_prop.items()})


def deployed(service: Service, scene: Scene) -> DeployedTrigger:
    trigger = plant_trigger(service, scene)
    with service.store.write() as tx:
        tx.run("UPDATE deployed_triggers SET deployed = 1 WHERE id = :id", {"id": trigger.id})
    return trigger


def test_accounts_are_replaced(service: Service, scene: Scene, plant: Plant) -> None:
    trigger, old, new = deployed(service, scene), plant(), plant()
    use(service, trigger, left=old, right=old)
    use(service, trigger, right=new)
    shown = trigger_accounts.of_triggers(service.store, [trigger.id, "dc_none"])
    assert shown == {trigger.id: [{"prop": "right", "id": new.id}], "dc_none": []}
    assert [using.id for using in trigger_accounts.active_of_account(service.store, new.id)] == [trigger.id]
    assert trigger_accounts.active_of_account(service.store, old.id) == []
    assert [use.id for use in trigger_accounts.page_of_account(service.store, new.id, cursors.Window()).items] == [
        trigger.id
    ]


def test_a_removed_account_switches_its_triggers_off(service: Service, scene: Scene, plant: Plant) -> None:
    trigger, other, account = deployed(service, scene), deployed(service, scene), plant()
    use(service, trigger, account=account)
    with service.store.write() as tx:
        assert trigger_accounts.switch_off_for_account(tx, service, account) == [trigger.name]
    stopped = deployed_triggers.get(service.store, scene, trigger.id)
    assert not stopped.active
    assert stopped.switched_off == "Its Tiny Keys account Ada was disconnected; choose another account."
    assert deployed_triggers.get(service.store, scene, other.id).active
    with service.store.write() as tx:
        assert trigger_accounts.switch_off_for_account(tx, service, account) == []
