"""When the health of an account is checked. Times are epoch milliseconds.

An account that works is checked again after six hours; one whose check failed sooner (:mod:`retry_times`); a dead one
never. How the outcome of a check is judged is in :mod:`webapp.service.domain.accounts.health`.
"""

import zlib

from webapp.kit.clock import HOUR

CHECK_EVERY = 6 * HOUR


def check_time(account_id: str, now: int) -> int:
    """The time of the next check of a working account: in 6 hours, up to a fifth earlier to spread checks."""
    return now + CHECK_EVERY - zlib.crc32(account_id.encode()) % (CHECK_EVERY // 5)


def first_check_time(account_id: str, now: int) -> int:
    """The time of the first check of an account that nobody has tested: within the hour, spread."""
    return now + zlib.crc32(account_id.encode()) % HOUR
