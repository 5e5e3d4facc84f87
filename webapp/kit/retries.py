"""How long to wait before what failed is tried again."""

from webapp.kit.clock import HOUR, MINUTE, SECOND

BACK_OFF = (30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR)


def back_off(failures: int) -> int:
    """The wait in milliseconds after so many failures in a row."""
    return BACK_OFF[min(max(failures, 1), len(BACK_OFF)) - 1]
