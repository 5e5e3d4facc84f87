"""Times as a page shows them: in words that count from now, and exactly, both in the language that is spoken.

The words are those of CLDR, by Babel. Browsers have the same, so static/js/patchbay.js counts on alike.
"""

import functools
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from babel import Locale
from babel.dates import format_skeleton, format_timedelta

from webapp.kit.translation import gettext, language

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86400, 7 * 86400


class Moment(NamedTuple):
    """A time as a page shows it: ``iso`` for machines, ``words`` to read, ``exact`` on hover."""

    iso: str
    words: str
    exact: str


def moment(ms: int, now_ms: int, zone: tzinfo = UTC) -> Moment:
    """``ms`` (epoch milliseconds) as a page shows it at ``now_ms``; ``exact`` is in ``zone``, and names it."""
    iso, exact = _written(ms // 1000, zone, language())
    return Moment(iso, _words(ms, now_ms, zone), exact)


def duration(seconds: int) -> str:
    """``17 seconds`` or ``2 minutes``: how long to wait, never less than ``seconds``."""
    whole = seconds if seconds < _MINUTE else -(-seconds // _MINUTE) * _MINUTE
    return format_timedelta(timedelta(seconds=whole), threshold=1, locale=_locale(language()))


@functools.lru_cache(maxsize=8192)  # lists show the same times again and again
def _written(seconds: int, zone: tzinfo, language: str) -> tuple[str, str]:
    at = datetime.fromtimestamp(seconds, zone)
    exact = gettext("{date}, {time}").format(date=_date(at, "yMMMd", language), time=f"{at:%H:%M:%S %Z}")
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}", exact


def _words(ms: int, now_ms: int, zone: tzinfo) -> str:
    """``4 minutes ago``, ``in 2 hours``; past a week the date says more."""
    seconds = abs(now_ms - ms) // 1000
    if seconds < 45:
        return gettext("just now") if ms <= now_ms else gettext("in a moment")
    if seconds < _WEEK:
        unit = _MINUTE if seconds < _HOUR else _HOUR if seconds < _DAY else _DAY
        whole = max(unit, seconds // unit * unit)
        return _from_now(-whole if ms <= now_ms else whole, language())
    at, today = (datetime.fromtimestamp(value / 1000, zone) for value in (ms, now_ms))
    return _date(at, "MMMd" if at.year == today.year else "yMMMd", language())


@functools.cache  # some ninety of them for each language
def _from_now(seconds: int, language: str) -> str:
    return format_timedelta(timedelta(seconds=seconds), threshold=1, add_direction=True, locale=_locale(language))


def _date(at: datetime, skeleton: str, language: str) -> str:
    return format_skeleton(skeleton, at, tzinfo=at.tzinfo, locale=_locale(language))


@functools.cache
def _locale(language: str) -> Locale:
    """English is British: the day comes before the month."""
    return Locale.parse("en-GB" if language == "en" else language, sep="-")
