"""A trigger's deliveries of the last 24 hours as a bar chart, and as a sentence for screen readers."""

from collections.abc import Sequence
from typing import NamedTuple

from webapp.dashboard.client.models.deliveries import Day
from webapp.kit.translation import count_of, gettext, ngettext

HEIGHT = 36
_STEP, _WIDTH, _LEAST = 7, 5, 2


class Bar(NamedTuple):
    """A rectangle of the chart. ``tone`` is "" delivered, ``w`` waiting, ``x`` failed, ``z`` nothing, or another."""

    x: int
    y: float
    height: float
    tone: str


Stack = Sequence[tuple[int, str]]
"""The counts of one column, from below, each with its tone."""


def bars(day: Day) -> Sequence[Bar]:
    """One column an hour: delivered below, then waiting, then failed; an empty hour is a thin line."""
    return columns([((hour.delivered, ""), (hour.waiting, "w"), (hour.failed, "x")) for hour in day.hours])


def columns(stacks: Sequence[Stack]) -> Sequence[Bar]:
    """One column for each of ``stacks``; an empty one is a thin line."""
    tallest = max((sum(count for count, _ in stack) for stack in stacks), default=0)
    rectangles: list[Bar] = []
    for number, stack in enumerate(stacks):
        x, top = number * _STEP, float(HEIGHT)
        for count, tone in stack:
            if count:
                height = round(max(_LEAST * 2, count / tallest * (HEIGHT - 6)), 1)
                top = round(max(top - height, 0), 1)
                rectangles.append(Bar(x, top, height, tone))
        if top == HEIGHT:
            rectangles.append(Bar(x, HEIGHT - _LEAST, _LEAST, "z"))
    return rectangles


def width(day: Day) -> int:
    """The width of the drawing."""
    return width_of(len(day.hours))


def width_of(count: int) -> int:
    """The width of ``count`` columns."""
    return max(count * _STEP - (_STEP - _WIDTH), 1)


def in_words(day: Day) -> str:
    """``118 of 121 deliveries arrived, 2 wait, 1 failed``."""
    if not day.total:
        return gettext("Nothing was delivered in the last 24 hours")
    arrived = ngettext(
        "{delivered} of {count} delivery arrived", "{delivered} of {count} deliveries arrived", day.total
    )
    words = [arrived.format(delivered=f"{day.delivered:,}", count=f"{day.total:,}")]
    if day.waiting:
        words.append(count_of(day.waiting, "{count} waits", "{count} wait"))
    if day.failed:
        words.append(count_of(day.failed, "{count} failed", "{count} failed"))
    return ", ".join(words)
