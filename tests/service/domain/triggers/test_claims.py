"""What is due is claimed once and by one; sleep and a clock that jumps make no storm, and lose no tick."""

from typing import Any

import pytest

from tests.fakes.triggers import deploy, emitted, poll_due, row
from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND, FakeClock
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import claims, firing, turns

EVERY_MINUTE = {"cron": {"cron": "* * * * *", "timezone": "Europe/Berlin"}}


def timestamps(service: Service, trigger: Any) -> list[int]:
    return [one["ts"] for one in emitted(service, trigger)]


def test_a_timer_fires_once_for_each_tick(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene, "schedule-custom-interval", given={"cron": {"intervalSeconds": 10}})
    start = clock.at
    assert trigger.next_run_at == start + 10 * SECOND
    for _ in range(31):
        claims.fire_timers(service)
        claims.fire_timers(service)
        clock.advance(SECOND)
    assert timestamps(service, trigger) == [start + n * 10 * SECOND for n in (1, 2, 3)]
    assert emitted(service, trigger)[0]["e"] == f'{{"timestamp":{start + 10 * SECOND},"interval_seconds":10}}'


@pytest.mark.parametrize("asleep", [2 * HOUR, DAY])
def test_sleep_is_made_up_for_once(service: Service, scene: Scene, clock: FakeClock, asleep: int) -> None:
    timer = deploy(service, scene, "schedule-cron", given=EVERY_MINUTE)
    poll = deploy(service, scene, given={"timer": {"intervalSeconds": 60}})
    poll_due(service)
    clock.advance(asleep + 17 * SECOND)
    assert claims.fire_timers(service) == 1
    assert claims.fire_timers(service) == 0
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
    claims.fire_timers(service)
    (stuck,) = claims.claim_polls(service, 9)  # its worker dies with a lease from the future
    clock.advance(-DAY)
    assert claims.realign(service) == 2
    assert claims.realign(service) == 0
    assert [one.id for one in claims.claim_polls(service, 9)] == [poll.id]
    assert not firing.poll(service, stuck).events
    for _ in range(3):
        clock.advance(MINUTE)
        assert claims.fire_timers(service) == 2
    assert len(timestamps(service, interval)) == len(timestamps(service, cron)) == 4


def test_an_hour_back_repeats_no_cron_tick(service: Service, scene: Scene, clock: FakeClock) -> None:
    cron = deploy(service, scene, "schedule-cron", given={"cron": {"cron": "*/30 * * * *"}})
    clock.advance(HOUR + 5 * SECOND)
    claims.fire_timers(service)
    clock.advance(-HOUR)
    claims.realign(service)
    for _ in range(2 * 60 + 1):
        claims.fire_timers(service)
        clock.advance(MINUTE)
    found = timestamps(service, cron)
    assert len(found) == len(set(found)) == 3
    assert sorted(found) == found


def test_one_of_two_claims(service: Service, scene: Scene, clock: FakeClock) -> None:
    trigger = deploy(service, scene)
    (first,) = claims.claim_polls(service, 9)
    assert claims.claim_polls(service, 9) == []
    due = claims.next_poll_at(service)
    assert due == clock.at + claims.LEASE
    clock.advance(claims.LEASE)
    (second,) = claims.claim_polls(service, 9)
    assert firing.poll(service, first).ok  # too slow: its lease has passed, so nothing of it is kept
    assert emitted(service, trigger)[1:] == []
    assert firing.poll(service, second).events
    assert len(emitted(service, trigger)) == 2
    assert row(service, trigger)["lease_until"] == 0


def test_what_is_being_changed_is_not_claimed_and_what_is_given_up_is(service: Service, scene: Scene) -> None:
    trigger = deploy(service, scene)
    with turns.taken(service, trigger):
        assert claims.claim_polls(service, 9) == []
    (claimed,) = claims.claim_polls(service, 9)
    claims.release(service, claimed)
    assert len(claims.claim_polls(service, 9)) == 1
