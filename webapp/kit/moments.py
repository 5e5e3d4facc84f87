"""Times as a page shows them: in words that count from now, and exactly, both in the language that is spoken."""

import functools
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from webapp.kit.translation import gettext, language, ngettext
from webapp.kit.translation import lazy as _

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86400, 7 * 86400
_MONTHS = (
    _("Jan"), _("Feb"), _("Mar"), _("Apr"), _("May"), _("Jun"),
    _("Jul"), _("Aug"), _("Sep"), _("Oct"), _("Nov"), _("Dec"),
)  # fmt: skip


class Moment(NamedTuple):
    """A time as a page shows it: ``iso`` for machines, ``words`` to read, ``exact`` on hover."""

    iso: str
    words: str
    exact: str


def moment(ms: int, now_ms: int, zone: tzinfo = UTC) -> Moment:
    """``ms`` (epoch milliseconds) as a page shows it at ``now_ms``; ``exact`` is in ``zone``, and names it."""
    iso, exact = _written(ms // 1000, zone, language())
    return Moment(iso, _words(ms, now_ms, zone), exact)


@functools.lru_cache(maxsize=8192)  # lists show the same times again and again
def _written(seconds: int, zone: tzinfo, _language: str) -> tuple[str, str]:
    at = datetime.fromtimestamp(seconds, zone)
    exact = gettext("{date}, {time}").format(date=_date(at), time=f"{at:%H:%M:%S %Z}")
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}", exact


def _words(ms: int, now_ms: int, zone: tzinfo) -> str:
    """``4 minutes ago``, ``in 2 hours``; past a week the date says more. static/js/patchbay.js counts alike."""
    seconds = abs(now_ms - ms) // 1000
    if seconds < 45:
        return gettext("just now") if ms <= now_ms else gettext("in a moment")
    if seconds < _WEEK:
        return _ago(seconds) if ms <= now_ms else _ahead(seconds)
    at, today = (datetime.fromtimestamp(value / 1000, zone) for value in (ms, now_ms))
    if at.year == today.year:
        return gettext("{day} {month}").format(day=at.day, month=_MONTHS[at.month - 1])
    return _date(at)


def _ago(seconds: int) -> str:
    count, length = _counted(seconds)
    if length == _MINUTE:
        said = ngettext("{count} minute ago", "{count} minutes ago", count)
    elif length == _HOUR:
        said = ngettext("{count} hour ago", "{count} hours ago", count)
    else:
        said = ngettext("{count} day ago", "{count} days ago", count)
    return said.format(count=count)


def _ahead(seconds: int) -> str:
    count, length = _counted(seconds)
    if length == _MINUTE:
        said = ngettext("in {count} minute", "in {count} minutes", count)
    elif length == _HOUR:
        said = ngettext("in {count} hour", "in {count} hours", count)
    else:
        said = ngettext("in {count} day", "in {count} days", count)
    return said.format(count=count)


def _counted(seconds: int) -> tuple[int, int]:
    """How many of which unit, by its length in seconds."""
    length = _MINUTE if seconds < _HOUR else _HOUR if seconds < _DAY else _DAY
    return max(1, seconds // length), length


def _date(at: datetime) -> str:
    return gettext("{day} {month} {year}").format(day=at.day, month=_MONTHS[at.month - 1], year=at.year)
