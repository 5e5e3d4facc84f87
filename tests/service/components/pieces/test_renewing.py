"""When what a piece's trigger made is to be renewed."""

import pytest

from webapp.kit.clock import DAY, HOUR, MINUTE
from webapp.service.components.pieces import renewing

NOON = 1_700_049_600_000  # 2023-11-15T12:00:00Z


@pytest.mark.parametrize(
    ("cron", "wait"), [("0 */6 * * *", 6 * HOUR), ("*/5 * * * *", 5 * MINUTE), ("not a cron", DAY), ("0 0 31 2 *", DAY)]
)
def test_two_thirds_of_its_time_end_at_the_next_tick(cron: str, wait: int) -> None:
    assert renewing.ends_at(cron, NOON) - NOON == wait * 3 // 2
