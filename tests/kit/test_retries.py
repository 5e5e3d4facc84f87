"""Waits follow the failures in a row."""

from webapp.kit.retries import back_off


def test_the_last_wait_stays() -> None:
    assert [back_off((30, 60, 3600), failures) for failures in (0, 1, 2, 3, 99)] == [30, 30, 60, 3600, 3600]
