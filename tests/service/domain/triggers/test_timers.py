"""Timers fire once for each tick; sleep and a clock that jumps make no storm, and lose no tick."""

from typing import Any

import pytest

from tests.fakes.delivery_harness import DeliveryHarness
from tests.fakes.triggers import deploy, emitted, poll_due, row
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, TOLERATED, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployed_triggers, firing, lifecycle, timers
from webapp.store.contract import Store, claiming

EVERY_MINUTE = {"cron": {"cron": "* * * * *", "timezone": "Europe/Berlin"}}


def timestamps(service: Service, trigger: Any) -> list[int]:
    return [one["ts"] for one in emitted(service, trigger)]


def test_a_timer_fires_once_for_each_tick(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 10}})
    start = clock.at
    assert trigger.next_run_at == start + 10 * SECOND
    for _ in range(31):
        timers.fire_timers(service)
        timers.fire_timers(service)
        clock.advance(SECOND)
    assert timestamps(service, trigger) == [start + n * 10 * SECOND for n in (1, 2, 3)]
    assert emitted(service, trigger)[0]["e"] == f'{{"timestamp":{start + 10 * SECOND},"interval_seconds":10}}'


@pytest.mark.parametrize("asleep", [2 * HOUR, DAY])
def test_sleep_is_made_up_for_once(service: Service, scene: Scene, clock: FakeClock, asleep: int) -> None:
    timer = deploy(service, scene, "schedule-cron", given=EVERY_MINUTE)
    poll = deploy(service, scene, given={"timer": {"intervalSeconds": 60}})
    poll_due(service)
    clock.advance(asleep + 17 * SECOND)
    assert timers.fire_timers(service) == 1
    assert timers.fire_timers(service) == 0
    assert len(poll_due(service)) == 1
    assert poll_due(service) == []
    assert timestamps(service, timer) == [clock.at - clock.at % MINUTE]  # the last of those that were missed
    assert row(service, timer)["next_run_at"] == clock.at - clock.at % MINUTE + MINUTE
    assert row(service, poll)["next_run_at"] == poll.created_at + asleep + MINUTE


def test_a_clock_that_was_ahead_for_a_day_stops_nothing(service: Service, scene: Scene, clock: FakeClock) -> None:
    interval = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 60}})
    cron = deploy(service, scene, "schedule-cron", given=EVERY_MINUTE)
    poll = deploy(service, scene)
    clock.advance(DAY)
    timers.fire_timers(service)
    (stuck,) = lifecycle.claim_polls(service, 9)  # its worker dies with a lease from the future
    clock.advance(-DAY)
    assert lifecycle.realign(service) == 2
    assert lifecycle.realign(service) == 0
    assert [one.id for one in lifecycle.claim_polls(service, 9)] == [poll.id]
    assert not firing.poll(service, stuck).events
    for _ in range(3):
        clock.advance(MINUTE)
        assert timers.fire_timers(service) == 2
    assert len(timestamps(service, interval)) == len(timestamps(service, cron)) == 4


def test_a_worker_that_starts_while_another_fires_repeats_no_tick(
    service: Service, scene: Scene, clock: FakeClock
) -> None:
    """Its clock is read before the other's transaction ends, or is a little behind."""
    timer = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 1}})
    clock.advance(SECOND)
    assert timers.fire_timers(service) == 1
    for behind in (20, TOLERATED):
        clock.advance(-behind)
        assert lifecycle.realign(service) == 0
        clock.advance(behind)
        assert timers.fire_timers(service) == 0
    assert len(timestamps(service, timer)) == 1


def test_an_hour_back_repeats_no_cron_tick(service: Service, scene: Scene, clock: FakeClock) -> None:
    cron = deploy(service, scene, "schedule-cron", given={"cron": {"cron": "*/30 * * * *"}})
    clock.advance(HOUR + 5 * SECOND)
    timers.fire_timers(service)
    clock.advance(-HOUR)
    lifecycle.realign(service)
    for _ in range(2 * 60 + 1):
        timers.fire_timers(service)
        clock.advance(MINUTE)
    found = timestamps(service, cron)
    assert len(found) == len(set(found)) == 3
    assert sorted(found) == found


def test_a_worker_fires_the_timers_that_no_other_fires_just_now(
    post_on_postgres: DeliveryHarness, workers: list[Store]
) -> None:
    service, scene, clock = post_on_postgres.service, post_on_postgres.scene, post_on_postgres.clock
    given = {"cron": {"intervalSeconds": 10}}
    triggers = [deploy(service, scene, "schedule-custom-interval", given=given) for _ in range(3)]
    clock.advance(10 * SECOND)
    with workers[0].write(shared=True) as tx:
        assert deployed_triggers.ROWS.all(tx, f"emitter = 'timer' LIMIT 1{claiming(tx)}", {})
        assert timers.fire_timers(service) == 2
    assert timers.fire_timers(service) == 1
    assert [len(emitted(service, trigger)) for trigger in triggers] == [1, 1, 1]
