"""A pending change is stored from before the first hook until the transaction that ends it; its fields are sealed."""

from dataclasses import asdict
from typing import Any

import pytest

from tests.fakes.deployed import plant_trigger_of
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import lifecycle, pending_changes
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Change


@pytest.fixture
def trigger(service: Service, scene: Scene) -> DeployedTrigger:
    return plant_trigger_of(service, scene, "~/poll")[0]


def row(service: Service) -> dict[str, Any]:
    (one,) = service.store.all("SELECT * FROM trigger_plans")
    return one


def test_it_names_its_phase_and_its_fields_are_sealed(service: Service, trigger: DeployedTrigger) -> None:
    change = Change(configured={"token": "canary-token", "ids": None}, active=False)
    pending_changes.begin(service, trigger, "change", change=asdict(change))
    pending = pending_changes.find(service.store, trigger.id)
    assert pending is not None and (pending.kind, pending.phase, pending.began_at) == (
        "change",
        "unsubscribe",
        service.clock(),
    )
    assert Change(**pending_changes.change_of(service, pending)) == change
    assert b"canary-token" not in row(service)["wish_sealed"] and "canary" not in repr(pending)
    pending_changes.set_phase(service, trigger, "subscribe")
    assert row(service)["phase"] == "subscribe"


def test_fields_of_an_earlier_version_are_understood(service: Service, trigger: DeployedTrigger) -> None:
    pending_changes.begin(service, trigger, "change", change={"given": {"ids": ["b"]}, "active": True})
    pending = pending_changes.find(service.store, trigger.id)
    assert pending is not None and Change(**pending_changes.change_of(service, pending)) == Change(
        active=True, configured={"ids": ["b"]}
    )


def test_a_later_one_replaces_the_one_before(service: Service, trigger: DeployedTrigger) -> None:
    pending_changes.begin(service, trigger, "change", "subscribe", {"name": "Other"})
    pending_changes.begin(service, trigger, "delete")
    pending = pending_changes.find(service.store, trigger.id)
    assert pending is not None and (pending.kind, pending.phase, pending_changes.change_of(service, pending)) == (
        "delete",
        "unsubscribe",
        {},
    )


def test_it_is_deleted_with_its_trigger_or_when_that_is_switched_off(
    service: Service, trigger: DeployedTrigger
) -> None:
    for end in (
        lambda tx: pending_changes.end(tx, trigger.id),
        lambda tx: lifecycle.switch_off(tx, service, trigger, "Its account was disconnected."),
        lambda tx: lifecycle.remove(tx, trigger.id),
    ):
        pending_changes.begin(service, trigger, "change")
        with service.store.write() as tx:
            end(tx)
        assert pending_changes.find(service.store, trigger.id) is None
