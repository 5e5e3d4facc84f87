"""When a delivery that failed is tried again (contract "Retries"), as data and pure functions.

How long deliveries are put off because their endpoint fails, and when it gets none, is in :mod:`endpoint_state`.
"""

import email.utils
import random
from collections.abc import Callable
from datetime import UTC

from webapp.kit.clock import DAY, HOUR, MINUTE, SECOND

SCHEDULE = (
    0,
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
)
"""The pause before each attempt, in milliseconds; ten attempts, about three days."""
JITTER = 0.2
LONGEST_RETRY_AFTER = DAY
GONE = 410
WAITERS = frozenset({429, 503})


def pause(tries: int, retry_after: int | None = None, draw: Callable[[], float] = random.random) -> int | None:
    """The pause (ms) after ``tries`` failed attempts; None after the last.

    ``retry_after`` (ms) is what the receiver asked for; it is respected, up to a day, if it is longer.
    """
    if tries >= len(SCHEDULE):
        return None
    return max(jittered(SCHEDULE[tries], draw), min(retry_after or 0, LONGEST_RETRY_AFTER))


def jittered(ms: int, draw: Callable[[], float]) -> int:
    """``ms``, up to :data:`JITTER` of it shorter or longer, so that what failed together is not tried together."""
    return round(ms * (1 - JITTER + 2 * JITTER * draw()))


def retry_after_ms(status: int, header: str | None, now: int) -> int | None:
    """The ``Retry-After`` of a 429 or 503 (RFC 9110 section 10.2.3: seconds or a date) in ms; else None."""
    if status not in WAITERS or not header:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:9]) * SECOND, LONGEST_RETRY_AFTER)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    at = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(int(at.timestamp() * SECOND) - now, 0), LONGEST_RETRY_AFTER)
