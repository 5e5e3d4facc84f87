"""The schedule, the jitter, Retry-After."""

import pytest

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.service.domain.deliveries import retry


def middle() -> float:
    return 0.5


def test_the_schedule_is_the_documented_one() -> None:
    pauses = [retry.pause(tries, draw=middle) for tries in range(11)]
    hours = [2, 5, 10, 14, 20, 24]
    assert pauses == [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, *(n * HOUR for n in hours), None]


@pytest.mark.parametrize(("drawn", "share"), [(0.0, 0.8), (1.0, 1.2)])
def test_the_jitter_is_a_fifth_each_way(drawn: float, share: float) -> None:
    assert retry.pause(2, draw=lambda: drawn) == 5 * MINUTE * share


def test_a_longer_retry_after_is_waited_for_but_no_longer_than_a_day() -> None:
    assert retry.pause(1, 90 * SECOND, middle) == 90 * SECOND
    assert retry.pause(2, 90 * SECOND, middle) == 5 * MINUTE
    assert retry.pause(1, 9 * DAY, middle) == DAY
    assert retry.pause(10, 90 * SECOND, middle) is None


NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("status", "header", "expected"),
    [
        (429, "120", 120 * SECOND),
        (503, " 7 ", 7 * SECOND),
        (429, "Tue, 14 Nov 2023 22:14:20 GMT", 60 * SECOND),
        (429, "Tue, 14 Nov 2023 22:00:00 GMT", 0),
        (429, "99999999999999", DAY),
        (429, "soon", None),
        (429, "-5", None),
        (429, None, None),
        (500, "120", None),
    ],
)
def test_retry_after(status: int, header: str | None, expected: int | None) -> None:
    assert retry.retry_after_ms(status, header, NOW) == expected
