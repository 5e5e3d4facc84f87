"""Waits grow with the failures in a row."""

from webapp.kit.clock import HOUR, MINUTE, SECOND
from webapp.kit.retries import back_off


def test_waits_grow_to_an_hour() -> None:
    assert [back_off(failures) for failures in (0, 1, 2, 99)] == [30 * SECOND, 30 * SECOND, MINUTE, HOUR]
