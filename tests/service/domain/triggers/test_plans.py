"""A plan stands from before the first hook until the transaction that ends it; the wish in it is sealed."""

from dataclasses import asdict
from typing import Any

import pytest

from tests.fakes.deployed import plant_trigger_of
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import lifecycle, plans
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Change


@pytest.fixture
def trigger(service: Service, scene: Scene) -> DeployedTrigger:
    return plant_trigger_of(service, scene, "~/poll")[0]


def row(service: Service) -> dict[str, Any]:
    (one,) = service.store.all("SELECT * FROM trigger_plans")
    return one


def test_a_plan_names_its_step_and_keeps_the_wish_sealed(service: Service, trigger: DeployedTrigger) -> None:
    change = Change(configured={"token": "canary-token", "ids": None}, active=False)
    plans.begin(service, trigger, "change", change=asdict(change))
    plan = plans.find(service.store, trigger.id)
    assert plan is not None and (plan.kind, plan.phase, plan.began_at) == ("change", "unsubscribe", service.clock())
    assert Change(**plans.change_of(service, plan)) == change
    assert b"canary-token" not in row(service)["wish_sealed"] and "canary" not in repr(plan)
    plans.set_phase(service, trigger, "subscribe")
    assert row(service)["phase"] == "subscribe"


def test_a_wish_of_an_earlier_version_is_understood(service: Service, trigger: DeployedTrigger) -> None:
    plans.begin(service, trigger, "change", change={"given": {"ids": ["b"]}, "active": True})
    plan = plans.find(service.store, trigger.id)
    assert plan is not None and Change(**plans.change_of(service, plan)) == Change(
        active=True, configured={"ids": ["b"]}
    )


def test_a_later_plan_takes_the_place_of_the_one_before(service: Service, trigger: DeployedTrigger) -> None:
    plans.begin(service, trigger, "change", "subscribe", {"name": "Other"})
    plans.begin(service, trigger, "delete")
    plan = plans.find(service.store, trigger.id)
    assert plan is not None and (plan.kind, plan.phase, plans.change_of(service, plan)) == ("delete", "unsubscribe", {})


def test_it_ends_by_itself_with_its_trigger_or_when_that_is_switched_off(
    service: Service, trigger: DeployedTrigger
) -> None:
    for end in (
        lambda tx: plans.end(tx, trigger.id),
        lambda tx: lifecycle.switch_off(tx, service, trigger, "Its account is gone."),
        lambda tx: lifecycle.remove(tx, trigger.id),
    ):
        plans.begin(service, trigger, "change")
        with service.store.write() as tx:
            end(tx)
        assert plans.find(service.store, trigger.id) is None
