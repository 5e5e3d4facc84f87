"""Reads gettext's message files (``.po``) as they are written: there is nothing to compile and to keep up to date.

Babel is loaded by the first that is read: the runner and the worker, which import this with what they share, read none.

The words and times of pages in the language of who reads them, by gettext and Babel.

English stands in the templates and modules themselves, and in the facts of apps and components. Another language is a
line in :data:`LANGUAGES` and files of gettext, ``webapp/translations/<tag, with _ for ->/*.po``, which are read when
somebody first speaks it; what they lack stays English. The JSON API, logs and commands speak English alone.

A time stands in words that count from now, which are those of CLDR, and exactly. Browsers have the same words, so
static/js/patchbay.js counts on alike.
"""

import functools
import gettext as catalogs
from collections import UserString
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import NamedTuple, cast

from babel import Locale
from babel.dates import format_skeleton, format_timedelta
from babel.numbers import format_decimal

from webapp.kit import sentences
from webapp.kit.brought_words import BroughtWords
from webapp.kit.message_files import read

DEFAULT = "en"
# By BCP 47 tag; each in its own words.
LANGUAGES: Mapping[str, str] = {
    DEFAULT: "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "ja": "日本語",
}
_DOCUMENTATION = "See the documentation"  # what such links of components are called
_FOLDER = Path(__file__).parent.parent / "translations"
_language: ContextVar[str] = ContextVar("language", default=DEFAULT)
_brought: list[BroughtWords] = []


def speak(language: str) -> None:
    """Use ``language`` in what this thread renders from now on: itself, or without its region ("de" for "de-AT").

    English when neither is spoken here.
    """
    spoken = (tag for tag in (language, language.partition("-")[0]) if tag in LANGUAGES)
    _language.set(next(spoken, DEFAULT))


def take_from(words: BroughtWords) -> None:
    """Look in ``words``, too, for what apps and components say and nothing of ours translates."""
    _brought[:] = [words]


def language() -> str:
    """The language that is spoken now, as a BCP 47 tag."""
    return _language.get()


def direction() -> str:
    """``ltr`` or ``rtl``: how the language that is spoken now is written."""
    return _locale(_language.get()).text_direction


def catalog() -> catalogs.NullTranslations:
    """The messages of the language that is spoken now."""
    return _catalog(_language.get())


def gettext(message: str) -> str:
    """``message`` in the language that is spoken now."""
    return _catalog(_language.get()).gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """The form of a message that fits ``count``; the count itself is filled in by the caller."""
    return _catalog(_language.get()).ngettext(singular, plural, count)


def count_of(number: int, singular: str, plural: str, **more: object) -> str:
    """``1 trigger``, ``1,200 triggers``: the message that fits ``number``, which stands in it as ``{count}``.

    ``more`` fills what else stands in it.
    """
    count = str(number) if number < 1_000 else _decimal(number, _language.get())
    return ngettext(singular, plural, number).format(count=count, **more)


@functools.lru_cache(maxsize=1024)  # pages count the same things again and again
def _decimal(number: int, language: str) -> str:
    return format_decimal(number, locale=_locale(language))


def lazy(message: str) -> str:
    """``message`` in the language that is spoken when it is shown: for constants, which are made before that is known.

    It behaves as the string it shows, but is none to C code: join and JSON want ``str(…)`` of it.
    """
    return cast("str", _Lazy(message))


def translated(text: str) -> str:
    """What an app, a component or the service says, in the language that is spoken now as far as it is known."""
    language = _language.get()
    if not text or language == DEFAULT:
        return text
    words, link = without_link(text)
    known = _brought[0].completing(_ours, language, words) if _brought else _ours(words)
    label = gettext("See the documentation")
    return f"{known} [{label}]{link}" if link else known


def _ours(words: str) -> str:
    known = sentences.of_folder(_folder(_language.get())).translated(words)  # "To" of an app is no "To" of ours
    return gettext(words) if known == words else known


def without_link(text: str) -> tuple[str, str]:
    """A description without the link to documentation at its end, and where that leads, in parentheses."""
    words, _, link = text.partition(f" [{_DOCUMENTATION}]")
    return (words, link) if link.startswith("(") and link.endswith(")") else (text, "")


class _Lazy(UserString):
    def __init__(self, message: str) -> None:
        self.message = message

    @property
    def data(self) -> str:  # type: ignore[override]  # UserString keeps a value; this one finds it
        return gettext(self.message)


@functools.cache
def _catalog(language: str) -> catalogs.NullTranslations:
    files = sorted(_folder(language).glob("*.po"), key=lambda file: (file.name != "pages.po", file.name))
    return read(files) if files else catalogs.NullTranslations()


def _folder(language: str) -> Path:
    return _FOLDER / language.replace("-", "_")


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
