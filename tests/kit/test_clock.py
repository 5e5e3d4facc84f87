"""A clock that was set back is noticed once; small steps are none of its business."""

import time

import pytest

from webapp.kit import clock
from webapp.kit.clock import SECOND, TOLERANCE, ClockMonitor, Deadline


def test_now_is_the_wall_clock_in_milliseconds() -> None:
    before = int(time.time() * 1000) - 1
    assert before <= clock.now() <= before + 5_000


def test_iso_shows_utc_with_z_and_milliseconds() -> None:
    assert clock.iso(0) == "1970-01-01T00:00:00.000Z"
    assert clock.iso(1_795_225_234_123) == "2026-11-21T01:40:34.123Z"


@pytest.mark.parametrize(
    "ms", [0, 1, 999, 1_795_225_234_123, 4_102_444_799_999, *range(1_800_000_000_000, 1_800_000_000_050)]
)
def test_iso_and_parse_iso_are_each_others_inverse(ms: int) -> None:
    assert clock.parse_iso(clock.iso(ms)) == ms


def test_parse_iso_honours_the_offset() -> None:
    assert clock.parse_iso("1970-01-01T02:00:00+02:00") == 0


@pytest.mark.parametrize("text", ["2026-11-21T01:40:34", "tomorrow", ""])
def test_parse_iso_refuses_what_has_no_zone_or_is_no_time(text: str) -> None:
    with pytest.raises(ValueError):
        clock.parse_iso(text)


def test_iso_or_none_keeps_an_absent_time_absent() -> None:
    assert clock.iso_or_none(None) is None
    assert clock.iso_or_none(0) == "1970-01-01T00:00:00.000Z"


def test_a_fake_clock_moves_only_when_told() -> None:
    fake = clock.FakeClock(1_000)
    assert fake() == fake() == 1_000
    fake.advance(2 * clock.SECOND)
    assert fake() == 3_000
    fake.advance(-clock.SECOND)
    assert fake() == 2_000


def test_units() -> None:
    assert (clock.SECOND, clock.MINUTE, clock.HOUR, clock.DAY) == (1_000, 60_000, 3_600_000, 86_400_000)


def test_what_is_left_shrinks_and_ends_in_an_error() -> None:
    deadline = Deadline(0.05)
    assert 0 < deadline.remaining() <= 0.05
    time.sleep(0.06)
    with pytest.raises(TimeoutError):
        deadline.remaining()


def test_the_sooner_of_two_holds() -> None:
    assert Deadline(100).at_most(1).remaining() <= 1
    assert Deadline(1).at_most(100).remaining() <= 1


def test_a_step_back_is_noticed_once() -> None:
    monitor = ClockMonitor()
    assert monitor.is_set_back(100 * SECOND)  # at the start, it may have been
    assert not monitor.is_set_back(101 * SECOND)
    assert not monitor.is_set_back(101 * SECOND - TOLERANCE)
    assert monitor.is_set_back(10 * SECOND)
    assert not monitor.is_set_back(11 * SECOND)
