"""The simulation of the far end: what it works out follows from what was measured, which is done by hand."""

from dataclasses import replace

import pytest

from tests.bench.far import Measured, World, hashed, most_days_kept, placed, simulate, text

MEASURED = Measured(1.0, 1.0, 2.0, 1.0, 0.25, 2_000, 4_000, 3_000, 0.5, 0.5)
SMALL = World(days=3, outage_day=1, projects=200)


def test_a_table_divides_projects_more_evenly_than_their_ids_do() -> None:
    for count in (1, 2, 4):
        assert sum(hashed(SMALL, count)) == pytest.approx(1) == sum(placed(SMALL, count))
        assert 1 / count <= max(placed(SMALL, count)) <= max(hashed(SMALL, count)) + 1e-9
    largest = max(placed(SMALL, 64))
    assert largest == placed(SMALL, 64)[0], "no database has less than the largest project"


@pytest.mark.parametrize(("partition_days", "most"), [(1, 31), (31, 61)])
def test_what_is_dropped_as_a_whole_stays_until_its_last_event_is_over_its_time(partition_days: int, most: int) -> None:
    assert most_days_kept(World(), partition_days) == most


def test_twice_the_databases_are_half_as_busy() -> None:
    one, two = simulate(SMALL, MEASURED, 1), simulate(SMALL, MEASURED, 2)
    assert two.share == pytest.approx(0.5, abs=0.01) and two.events_per_s == pytest.approx(
        one.events_per_s / 2, rel=0.01
    )
    assert two.months_tb == pytest.approx(one.months_tb / 2, rel=0.05)
    assert one.events_per_s == round(100_000_000 / 86_400 * 1.8)
    assert one.server_cpus == pytest.approx(one.events_per_s * 0.25 / 1000, abs=0.01)
    refreshes, checks = 10_000_000 * 0.5 / 3_300, 10_000_000 / 19_440
    assert one.lock == pytest.approx((one.events_per_s + refreshes + checks / 2) / 1000, abs=0.01)
    assert two.lock == pytest.approx(one.lock / 2, rel=0.02)
    assert one.workers <= two.workers <= one.workers + 2


def test_what_waits_through_an_outage_is_worked_off_and_ticks_alone_wait_for_minutes_at_most() -> None:
    row = simulate(SMALL, MEASURED, 1)
    assert 0 < row.drained_min < 600 and 0 < row.lag_s < 600
    assert simulate(replace(SMALL, outage_share=0.0, ticks=1 / 60), MEASURED, 1).drained_min <= 1
    assert simulate(replace(SMALL, ticks=1 / 60), MEASURED, 1).lag_s == 0
    assert f"{row.drained_min:>12}" in text(SMALL, MEASURED, [row])
