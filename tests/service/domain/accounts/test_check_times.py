"""When an account is checked: six hours after a success, within the hour if nobody tested it, later after failures."""

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.domain.accounts import check_times


def test_checks_are_spread() -> None:
    times = {check_times.check_time(f"apn_{number}", 0) for number in range(9)}
    assert len(times) == 9
    assert all(0 <= 6 * HOUR - at < 6 * HOUR // 5 for at in times)
    assert all(0 <= check_times.first_check_time(f"apn_{number}", 0) < HOUR for number in range(9))


def test_after_failures_the_pause_grows_and_the_provider_may_ask_for_more_up_to_a_day() -> None:
    assert [check_times.retry_time(failures, 7) for failures in (1, 3, 99)] == [
        7 + 30 * SECOND, 7 + 2 * MINUTE, 7 + HOUR,
    ]  # fmt: skip
    assert check_times.retry_time(1, 7, 90) == 7 + 90 * SECOND
    assert check_times.retry_time(1, 7, 1) == 7 + 30 * SECOND
    assert check_times.retry_time(1, 7, 10 * DAY // SECOND) == 7 + DAY
