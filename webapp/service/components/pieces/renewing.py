"""When what a piece's trigger made at its app is to be renewed: the piece says so with a cron expression."""

from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from webapp.kit.clock import DAY, SECOND


def ends_at(cron: str, now: int) -> int:
    """When what was made at ``now`` ends as far as renewals go, in epoch milliseconds.

    Subscriptions are renewed when two thirds of their time have passed: that is the next tick of ``cron``, in UTC. One
    that cannot be read is a day.
    """
    try:
        tick = next(CronSim(cron, datetime.fromtimestamp(now / SECOND, UTC)), None)
    except CronSimError:
        tick = None
    wait = int(tick.timestamp() * SECOND) - now if tick else DAY
    return now + max(wait, SECOND) * 3 // 2
