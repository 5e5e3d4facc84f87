"""When a subscription is renewed, by whom, and how long is waited after a failure."""

import pytest

from tests.fakes.triggers import deploy
from webapp.kit.clock import DAY, HOUR, MINUTE, FakeClock
from webapp.service.components.calls import ErrorInfo, Reply
from webapp.service.domain.base import leases
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import lifecycle, subscriptions
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.subscriptions import Subscription


@pytest.fixture
def trigger(service: Service, scene: Scene) -> DeployedTrigger:
    return deploy(service, scene)


def standing(service: Service, trigger: DeployedTrigger) -> Subscription:
    subscription = subscriptions.find(service.store, trigger.id)
    assert subscription is not None
    return subscription


def test_it_is_due_when_two_thirds_have_passed_and_claimed_once(
    service: Service, trigger: DeployedTrigger, clock: FakeClock
) -> None:
    subscriptions.record_hook(service, trigger.id, "activate", Reply(None, ends_at=clock.at + 3 * DAY))
    assert subscriptions.next_at(service) == clock.at + 2 * DAY
    assert subscriptions.claim(service, 9) == []
    clock.advance(2 * DAY)
    with lifecycle.locked(service, trigger):
        assert subscriptions.claim(service, 9) == []
        assert (subscriptions.next_at(service) or 0) > clock.at
    assert [each.trigger_id for each in subscriptions.claim(service, 9)] == [trigger.id]
    assert subscriptions.claim(service, 9) == []
    clock.advance(leases.RENEWAL)  # who claimed it has died
    assert len(subscriptions.claim(service, 9)) == 1
    assert standing(service, trigger).is_active(clock.at)


def test_a_hook_that_says_nothing_or_fails_leaves_it(
    service: Service, trigger: DeployedTrigger, clock: FakeClock
) -> None:
    failed = Reply(None, error=ErrorInfo("http", "E", "No"), ends_at=clock.at + DAY)
    for reply in (failed, Reply(None)):
        subscriptions.record_hook(service, trigger.id, "activate", reply)
        assert subscriptions.find(service.store, trigger.id) is None
    subscriptions.record_hook(service, trigger.id, "activate", Reply(None, ends_at=clock.at))
    assert not standing(service, trigger).is_active(clock.at)
    subscriptions.record_hook(service, trigger.id, "deactivate", failed)
    assert subscriptions.find(service.store, trigger.id) is None


def test_failures_wait_longer_and_longer_and_a_call_of_the_app_does_not_hasten_them(
    service: Service, trigger: DeployedTrigger, clock: FakeClock
) -> None:
    with service.store.write() as tx:
        subscriptions.set_end(tx, trigger.id, clock.at + DAY, clock.at)
        subscriptions.renew_soon(tx, trigger.id, clock.at)
    assert standing(service, trigger).renew_at == clock.at
    for wait in (*subscriptions.BACK_OFF, subscriptions.BACK_OFF[-1]):
        with service.store.write() as tx:
            subscriptions.fail(tx, standing(service, trigger), "No", clock.at)
            subscriptions.renew_soon(tx, trigger.id, clock.at)
        assert standing(service, trigger).renew_at == clock.at + wait
    assert (standing(service, trigger).failures, standing(service, trigger).error) == (7, "No")
    with service.store.write() as tx:
        subscriptions.postpone(tx, trigger.id, clock.at + MINUTE)
        subscriptions.set_end(tx, trigger.id, clock.at + HOUR, clock.at)
    assert (standing(service, trigger).failures, standing(service, trigger).error) == (0, None)


def test_one_of_a_trigger_that_was_switched_off_is_forgotten(
    service: Service, trigger: DeployedTrigger, clock: FakeClock
) -> None:
    subscriptions.record_hook(service, trigger.id, "activate", Reply(None, ends_at=clock.at))
    assert subscriptions.purge(service) == 0
    with service.store.write() as tx:
        lifecycle.switch_off(tx, service, trigger, "Its account is gone.")
    assert (subscriptions.claim(service, 9), subscriptions.next_at(service)) == ([], None)
    assert subscriptions.purge(service) == 1


def test_a_clock_that_was_set_back_puts_no_renewal_off(
    service: Service, trigger: DeployedTrigger, clock: FakeClock
) -> None:
    clock.advance(365 * DAY)
    subscriptions.record_hook(service, trigger.id, "activate", Reply(None, ends_at=clock.at + 3 * DAY))
    with service.store.write() as tx:
        lifecycle.set_last_run(tx, trigger, clock.at, None)
    assert subscriptions.realign(service) == 0
    clock.advance(-365 * DAY)
    assert (subscriptions.realign(service), subscriptions.next_at(service)) == (1, clock.at)
    assert subscriptions.realign(service) == 0


def test_it_goes_with_its_trigger(service: Service, trigger: DeployedTrigger, clock: FakeClock) -> None:
    subscriptions.record_hook(service, trigger.id, "activate", Reply(None, ends_at=clock.at))
    assert not subscriptions.notifies(service.store, trigger, clock.at)
    with service.store.write() as tx:
        lifecycle.remove(tx, trigger.id)
    assert subscriptions.find(service.store, trigger.id) is None
