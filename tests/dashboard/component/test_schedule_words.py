"""Schedules in words, and those that nobody understands."""

from typing import Any

import pytest

from webapp.dashboard.component import schedule_words
from webapp.dashboard.component.form_data import InvalidValue


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ({"intervalSeconds": 1}, "Every second"),
        ({"intervalSeconds": 90}, "Every 90 seconds"),
        ({"intervalSeconds": 900}, "Every 15 minutes"),
        ({"intervalSeconds": 7_200}, "Every 2 hours"),
        ({"intervalSeconds": 86_400}, "Every day"),
        ({"cron": "nonsense"}, "Cron nonsense (UTC)"),
        ({"intervalSeconds": True}, ""),
        (None, ""),
    ],
)
def test_in_words(schedule: Any, words: str) -> None:
    assert schedule_words.in_words(schedule) == words


def test_a_cron_expression_is_told_with_its_zone() -> None:
    words = schedule_words.in_words({"cron": "0 9 * * 1-5", "timezone": "Europe/Berlin"})
    assert "09:00" in words
    assert words.endswith("(Europe/Berlin)")


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        ({"cron": "0 9 * * 9"}, "is not a cron expression"),
        ({"cron": "0 9 30 2 *"}, "is not a cron expression"),
        ({"cron": "0 9 * * *", "timezone": "Mars/Base"}, "needs a time zone"),
    ],
)
def test_one_that_cannot_be(schedule: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        schedule_words.check("When", schedule)
    schedule_words.check("When", {"intervalSeconds": 5})
