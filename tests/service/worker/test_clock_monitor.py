"""A clock that was set back is noticed once; small steps are none of its business."""

from webapp.kit.clock import SECOND
from webapp.service.worker.clock_monitor import TOLERATED, ClockMonitor


def test_a_step_back_is_noticed_once() -> None:
    monitor = ClockMonitor()
    assert monitor.is_set_back(100 * SECOND)  # at the start, it may have been
    assert not monitor.is_set_back(101 * SECOND)
    assert not monitor.is_set_back(101 * SECOND - TOLERATED)
    assert monitor.is_set_back(10 * SECOND)
    assert not monitor.is_set_back(11 * SECOND)
