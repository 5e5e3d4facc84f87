"""The bars of a day, and the day in words."""

from webapp.dashboard.client.models.deliveries import Day, Hour
from webapp.dashboard.trigger import charts


def test_chart_draws_every_hour() -> None:
    hours = (Hour(delivered=3, failed=1), Hour(start=1), Hour(start=2, waiting=2))
    day = Day(hours=hours, delivered=3, failed=1, waiting=2, events=4, last_event_at=None)
    assert [(bar.x, bar.tone) for bar in charts.bars(day)] == [(0, ""), (0, "x"), (7, "z"), (14, "w")]
    assert all(bar.y >= 0 and bar.y + bar.height <= charts.HEIGHT for bar in charts.bars(day))
    assert charts.in_words(day) == "3 of 6 deliveries arrived, 2 wait, 1 failed"
    assert charts.in_words(Day()) == "Nothing was delivered in the last 24 hours"
