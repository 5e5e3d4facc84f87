"""When the health of an account is checked. Times are epoch milliseconds.

An account that works is checked again after six hours; one whose check failed sooner, after a growing pause
(:data:`BACK_OFF`) or when its provider says; a dead one never. How the outcome of a check is judged is in
:mod:`webapp.service.domain.accounts.health`.
"""

import zlib

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND
from webapp.kit.retries import back_off

CHECK_EVERY = 6 * HOUR
BACK_OFF = (30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR)
"""The wait after each failure in a row of a check or refresh, in milliseconds; the last one stays."""
_LONGEST_WAIT = DAY  # that a provider may ask for


def check_time(account_id: str, now: int) -> int:
    """The time of the next check of a working account: in 6 hours, up to a fifth earlier to spread checks."""
    return now + CHECK_EVERY - zlib.crc32(account_id.encode()) % (CHECK_EVERY // 5)


def first_check_time(account_id: str, now: int) -> int:
    """The time of the first check of an account that nobody has tested: within the hour, spread."""
    return now + zlib.crc32(account_id.encode()) % HOUR


def retry_time(failures: int, now: int, retry_after_s: int | None = None) -> int:
    """When to try again after so many failures in a row, of checks or refreshes: after a growing pause.

    ``retry_after_s``: how many seconds the provider asks to wait. At most a day counts.
    """
    return now + max(back_off(BACK_OFF, failures), min((retry_after_s or 0) * SECOND, _LONGEST_WAIT))
