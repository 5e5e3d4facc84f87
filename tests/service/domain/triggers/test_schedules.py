"""Which schedules may be kept. Ticks: from an anchor or the calendar, right across both DST changes, one for all that
was slept through.
"""

import itertools
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.domain.triggers import schedules

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str, zone: ZoneInfo = BERLIN) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()) * SECOND


def ticks(schedule: dict[str, Any], start: str, end: str) -> list[str]:
    """The ticks of a whole span, as local times with their offset."""
    found, moment = [], at(start)
    while (moment := schedules.next_after(schedule, 0, moment) or 0) <= at(end):
        found.append(datetime.fromtimestamp(moment / 1000, BERLIN).isoformat()[:-6])
    return found


def cron(text: str, zone: str = "Europe/Berlin") -> dict[str, Any]:
    return {"cron": text, "timezone": zone}


@pytest.mark.parametrize(
    ("value", "floor", "kept"),
    [
        ({"intervalSeconds": 900}, 15, {"intervalSeconds": 900}),
        ({"intervalSeconds": 15}, 15, {"intervalSeconds": 15}),
        ({"intervalSeconds": 1}, 1, {"intervalSeconds": 1}),
        ({"cron": " 0  9 * * MON-FRI "}, 15, {"cron": "0 9 * * MON-FRI", "timezone": "UTC"}),
    ],
)
def test_what_may_be_kept(value: dict[str, Any], floor: int, kept: dict[str, Any]) -> None:
    assert schedules.problem(value, floor) is None
    assert schedules.stored(value) == kept


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "missing"),
        ({"intervalSeconds": 14}, "every 15 seconds"),
        ({"intervalSeconds": 10**12}, "at most 366 days"),
        ({"intervalSeconds": 31_622_401}, "at most 366 days"),
        ({"cron": "* * * *"}, "five fields"),
        ({"cron": "* * * * * *"}, "five fields"),
        ({"cron": "61 * * * *"}, "cannot be read"),
        ({"cron": "0 0 30 2 *"}, "cannot be read"),
        ({"cron": "0 0 1 1 *", "timezone": "Mars/Olympus"}, "Europe/Berlin"),
        ({"cron": "0 0 1 1 *", "timezone": "../../etc/passwd"}, "Europe/Berlin"),
        ({"cron": "0 " + "0," * 200 + "1 * * *"}, "five fields"),
    ],
)
def test_what_may_not(value: Any, said: str) -> None:
    assert said in (schedules.problem(value, 15) or "")


def test_an_interval_counts_from_its_anchor() -> None:
    every = {"intervalSeconds": 90}
    assert schedules.next_after(every, 1000, 1000) == 91_000
    assert schedules.next_after(every, 1000, 90_999) == 91_000
    assert schedules.next_after(every, 1000, 91_000) == 181_000
    assert schedules.next_after(every, 1000, 0) == 1000  # an anchor that lies ahead is the first tick
    assert schedules.next_after(every, 1000, 1000 + 2 * HOUR) == 1000 + 2 * HOUR + 90_000
    assert schedules.latest(every, 91_000, 91_000 + 2 * HOUR + 5) == 91_000 + 2 * HOUR


def test_a_job_at_a_set_time_runs_once_when_the_clock_goes_forward() -> None:
    found = ticks(cron("30 2 * * *"), "2027-03-27T12:00", "2027-03-29T12:00")
    assert found == ["2027-03-28T03:00:00", "2027-03-29T02:30:00"]  # half past two does not exist on the 28th


def test_a_job_at_a_set_time_runs_once_when_the_clock_goes_back() -> None:
    found = ticks(cron("30 2 * * *"), "2027-10-30T12:00", "2027-11-01T12:00")
    assert found == ["2027-10-31T02:30:00", "2027-11-01T02:30:00"]


@pytest.mark.parametrize(("day", "hours"), [("2027-03-28", 23), ("2027-10-31", 25), ("2027-06-01", 24)])
def test_an_hourly_job_runs_in_every_hour_that_the_day_has(day: str, hours: int) -> None:
    moment = at(f"{day}T00:00") - 1
    end = at((datetime.fromisoformat(day).replace(hour=23)).isoformat())
    found = []
    while (moment := schedules.next_after(cron("0 * * * *"), 0, moment) or 0) <= end:
        found.append(moment)
    assert len(found) == hours
    assert {after - before for before, after in itertools.pairwise(found)} == {HOUR}


def test_two_hours_of_sleep_are_one_tick_that_is_the_last_one_missed() -> None:
    due, now = at("2027-06-01T10:00"), at("2027-06-01T12:00") + 20 * SECOND
    assert schedules.latest(cron("*/15 * * * *"), due, now) == at("2027-06-01T12:00")
    assert schedules.next_after(cron("*/15 * * * *"), 0, now) == at("2027-06-01T12:15")
    assert schedules.latest(cron("0 9 * * *"), at("2027-06-01T09:00"), at("2027-06-01T09:00") + 5) == due - HOUR


def test_the_time_zone_decides() -> None:
    morning = at("2027-01-05T00:00")
    assert schedules.next_after(cron("0 9 * * *"), 0, morning) == at("2027-01-05T09:00")
    new_york = schedules.next_after(cron("0 9 * * *", "America/New_York"), 0, morning)
    assert new_york == at("2027-01-05T09:00", ZoneInfo("America/New_York"))


def test_the_gap_is_how_long_a_schedule_pauses() -> None:
    assert schedules.gap({"intervalSeconds": 60}, 0, 5) == MINUTE
    assert schedules.gap(cron("0 9 * * *", "UTC"), 0, at("2027-06-01T00:00")) == DAY


def test_ticks() -> None:
    assert schedules.tick_payload({"intervalSeconds": 900}, 5) == {"timestamp": 5, "interval_seconds": 900}
    cron = {"cron": "0 * * * *", "timezone": "Europe/Berlin"}
    assert schedules.tick_payload(cron, 5) == {"timestamp": 5, **cron}


@pytest.mark.parametrize(
    ("schedule", "failures", "wait"),
    [
        ({"intervalSeconds": 15}, 1, 30 * SECOND),
        ({"intervalSeconds": 15}, 9, HOUR),
        ({"intervalSeconds": 7 * 3600}, 9, HOUR),
        ({"intervalSeconds": 45}, 1, 30 * SECOND),
        ({"cron": "0 0 * * *", "timezone": "UTC"}, 2, MINUTE),
        ({"cron": "0 0 * * *", "timezone": "UTC"}, 0, DAY),
    ],
)
def test_how_long_it_backs_off(schedule: dict[str, Any], failures: int, wait: int) -> None:
    midnight = 1_800_057_600_000
    assert schedules.next_after_failures(schedule, midnight, failures, midnight) == midnight + wait
