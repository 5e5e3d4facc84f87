"""When a check or a refresh of an account that failed is tried again. Times are epoch milliseconds."""

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.kit.retries import back_off

BACK_OFF = (30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR)
"""The wait after each failure in a row of a check or refresh, in milliseconds; the last one stays."""
_LONGEST_WAIT = DAY  # that a provider may ask for


def retry_time(failures: int, now: int, retry_after_s: int | None = None) -> int:
    """When to try again after so many failures in a row, of checks or refreshes: after a growing pause.

    ``retry_after_s``: how many seconds the provider asks to wait. At most a day counts.
    """
    return now + max(back_off(BACK_OFF, failures), min((retry_after_s or 0) * SECOND, _LONGEST_WAIT))
