"""When an account is checked: six hours after a success, within the hour if nobody tested it."""

from webapp.kit.clock import HOUR
from webapp.service.domain.accounts import check_times


def test_checks_are_spread() -> None:
    times = {check_times.check_time(f"apn_{number}", 0) for number in range(9)}
    assert len(times) == 9
    assert all(0 <= 6 * HOUR - at < 6 * HOUR // 5 for at in times)
    assert all(0 <= check_times.first_check_time(f"apn_{number}", 0) < HOUR for number in range(9))
