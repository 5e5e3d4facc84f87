"""When a check or a refresh that failed is tried again: after a growing pause, or when the provider says."""

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.domain.accounts import retry_times


def test_after_failures_the_pause_grows_and_the_provider_may_ask_for_more_up_to_a_day() -> None:
    assert [retry_times.retry_time(failures, 7) for failures in (1, 3, 99)] == [
        7 + 30 * SECOND, 7 + 2 * MINUTE, 7 + HOUR,
    ]  # fmt: skip
    assert retry_times.retry_time(1, 7, 90) == 7 + 90 * SECOND
    assert retry_times.retry_time(1, 7, 1) == 7 + 30 * SECOND
    assert retry_times.retry_time(1, 7, 10 * DAY // SECOND) == 7 + DAY
