"""What a process that died left half-way is brought to its end, or back; or the trigger says why it is off.

A death is played by an exception that undoes nothing: what is written stands, as after ``kill -9``.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.triggers import called_hooks, deploy, row
from webapp.errors import NotFound, Unavailable
from webapp.kit.clock import SECOND, FakeClock
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.components.runner import LOST
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance import removing
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import (
    accounts,
    calls,
    changing,
    deployed_triggers,
    deploying,
    lifecycle,
    plans,
    settling,
)
from webapp.service.domain.triggers.changing import Change
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

Plant = Callable[..., Account]


class Died(BaseException):
    """The process is gone."""


def die(*_: Any, **__: Any) -> None:
    raise Died


@pytest.fixture
def death(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs something in a process that dies when it reaches ``place``: before it, or behind it."""

    def run(work: Callable[[], object], module: Any, place: str, *, behind: bool = False) -> None:
        real = getattr(module, place)

        def reached(*values: Any, **named: Any) -> None:
            if behind:
                real(*values, **named)
            raise Died

        with monkeypatch.context() as patch:
            patch.setattr(module, place, reached)
            patch.setattr(changing, "_restore", die)
            with pytest.raises(Died):
                work()

    return run


def stands(service: Service, trigger: DeployedTrigger) -> DeployedTrigger:
    return deployed_triggers.get(service.store, trigger.scene, trigger.id)


def ids(service: Service, trigger: DeployedTrigger) -> Any:
    return deployed_triggers.configured(service, stands(service, trigger)).get("ids")


@pytest.fixture
def trigger(service: Service, scene: Scene, plant: Plant, provider: Any) -> DeployedTrigger:
    """One that is subscribed with the id ``a``."""
    account = plant(name="Work")
    made = deploy(service, scene, given={"account": {"authProvisionId": account.id}, "ids": ["a"]})
    provider.calls.clear()
    return made


def other_ids(service: Service, trigger: DeployedTrigger) -> Callable[[], object]:
    return lambda: changing.update(service, trigger, Change(configured={"ids": ["b"]}))


@pytest.mark.parametrize(
    ("place", "behind", "hooks"),
    [
        ("_unsubscribe", False, ["leave=a", "subscribe=b"]),
        ("_unsubscribe", True, ["leave=a", "leave=a", "subscribe=b"]),
        ("_write", False, ["leave=a", "subscribe=b", "leave=b", "subscribe=b"]),
    ],
    ids=["before the first hook", "between the hooks", "after the hooks"],
)
def test_a_change_that_broke_off_is_finished(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any, place: str, behind: bool, hooks: list[str]
) -> None:
    death(other_ids(service, trigger), changing, place, behind=behind)
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active
    assert settling.settle(service) == 1
    assert called_hooks(provider.calls) == hooks
    assert ids(service, trigger) == ["b"] and stands(service, trigger).active
    assert settling.settle(service) == 0 and plans.find(service.store, trigger.id) is None


def test_nothing_is_settled_while_its_process_lives(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any, clock: FakeClock
) -> None:
    death(other_ids(service, trigger), changing, "_write")
    with lifecycle.locked(service, trigger):
        clock.advance(lifecycle.BUSY - SECOND)
        assert settling.settle(service) == 0
    assert settling.settle(service) == 1


def test_what_the_app_refuses_to_finish_is_undone(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    change = Change(configured={"ids": ["b"], "fail": "subscribe"})
    death(lambda: changing.update(service, trigger, change), changing, "_unsubscribe", behind=True)
    assert settling.settle(service) == 1
    assert called_hooks(provider.calls)[-2:] == ["leave=b", "subscribe=a"]
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active
    assert plans.find(service.store, trigger.id) is None


def test_what_can_be_neither_finished_nor_undone_is_switched_off(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    death(other_ids(service, trigger), changing, "_write")
    provider.down = True
    assert settling.settle(service) == 1
    after = stands(service, trigger)
    assert not after.active
    assert (after.switched_off or "").startswith("A change failed, and what stood before could not be brought back.")
    assert plans.find(service.store, trigger.id) is None


def test_restoring_that_broke_off_is_repeated(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    restore = changing._restore

    def broken(*values: Any) -> None:
        monkeypatch.setattr(calls, "try_hook", die)
        restore(*values)

    monkeypatch.setattr(changing, "_restore", broken)
    with pytest.raises(Died):
        changing.update(service, trigger, Change(configured={"ids": ["b"], "fail": "subscribe"}))
    monkeypatch.undo()
    provider.calls.clear()
    assert settling.settle(service) == 1
    assert called_hooks(provider.calls) == ["leave=b", "subscribe=a"]
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active


def test_a_pause_and_a_resumption_that_broke_off_are_finished(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    death(lambda: changing.update(service, trigger, Change(active=False)), changing, "_write")
    assert stands(service, trigger).active
    settling.settle(service)
    assert not stands(service, trigger).active and stands(service, trigger).switched_off is None
    provider.calls.clear()
    death(lambda: changing.update(service, trigger, Change(active=True)), changing, "_write")
    settling.settle(service)
    assert called_hooks(provider.calls) == ["subscribe=a", "leave=a", "subscribe=a"]
    assert stands(service, trigger).active


def test_a_change_that_is_not_valid_any_more_brings_back_what_stood(
    service: Service, trigger: DeployedTrigger, plant: Plant, provider: Any, death: Any
) -> None:
    second = plant(name="Home")
    change = Change(configured={"account": {"authProvisionId": second.id}, "ids": ["b"]})
    death(lambda: changing.update(service, trigger, change), changing, "_unsubscribe", behind=True)
    removing.delete(service, second)
    provider.calls.clear()
    assert settling.settle(service) == 1
    assert called_hooks(provider.calls) == ["leave=a", "subscribe=a"]
    assert ids(service, trigger) == ["a"] and stands(service, trigger).active
    assert plans.find(service.store, trigger.id) is None


def test_a_deletion_that_broke_off_is_finished(
    service: Service, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    death(lambda: deploying.delete(service, trigger), deploying, "remove")
    assert stands(service, trigger).active
    assert settling.settle(service) == 1
    with pytest.raises(NotFound):
        stands(service, trigger)


def test_a_deletion_that_the_app_refuses_now_says_so(service: Service, scene: Scene, death: Any) -> None:
    trigger = deploy(service, scene, given={"fail": "leave"})
    death(lambda: deploying.delete(service, trigger), calls, "try_hook")
    assert settling.settle(service) == 1
    reason = "Its deletion broke off, and it could not be unsubscribed: The app refused to leave. Delete it again."
    assert stands(service, trigger).switched_off == reason
    deploying.delete(service, stands(service, trigger))
    with pytest.raises(NotFound):
        stands(service, trigger)


def test_removing_an_account_that_broke_off_leaves_its_triggers_subscribed(
    service: Service, scene: Scene, trigger: DeployedTrigger, provider: Any, death: Any
) -> None:
    def remove() -> int:
        return removing.delete_of_app(service, scene, "tinykeys", user=None)

    death(remove, accounts, "account_removed")
    assert called_hooks(provider.calls) == ["leave=a"]
    provider.calls.clear()
    assert settling.settle(service) == 1
    assert called_hooks(provider.calls) == ["leave=a", "subscribe=a"]
    assert stands(service, trigger).active
    assert remove() == 1
    reason = "Its Tiny Keys account Work was disconnected; choose another account."
    assert stands(service, trigger).switched_off == reason
    assert row(service, trigger)["busy_until"] == 0 and settling.settle(service) == 0


def test_a_deployment_that_broke_off_is_undone(
    service: Service, scene: Scene, plant: Plant, provider: Any, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deploying, "_finish", die)
    monkeypatch.setattr(deploying, "_undo", die)
    with pytest.raises(Died):
        deploy(service, scene, given={"account": {"authProvisionId": plant().id}, "ids": ["a"]})
    monkeypatch.undo()
    clock.advance(lifecycle.BUSY)
    assert settling.settle(service) == 1
    assert called_hooks(provider.calls) == ["deploy=a", "subscribe=a", "leave=a"]
    assert service.store.all("SELECT id FROM deployed_triggers") == []


@pytest.mark.parametrize("work", ["delete", "change"])
def test_what_was_lost_with_the_runner_is_settled_like_what_a_dead_process_left(
    service: Service, scene: Scene, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    trigger = deploy(service, scene)
    lost = Reply(None, error=ErrorInfo("runner", "RunnerError", LOST))
    with monkeypatch.context() as patch:
        patch.setattr(calls, "call", lambda *_, **__: lost)
        with pytest.raises(Unavailable):
            if work == "delete":
                deploying.delete(service, trigger)
            else:
                changing.update(service, trigger, Change(configured={"ids": ["new"]}))
        settling.settle(service)  # in vain: the runner is still away
    assert plans.find(service.store, trigger.id) is not None
    settling.settle(service)
    assert plans.find(service.store, trigger.id) is None
    if work == "delete":
        assert deployed_triggers.find(service.store, trigger.id) is None
    else:
        assert ids(service, trigger) == ["new"] and stands(service, trigger).active
