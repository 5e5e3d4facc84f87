"""The words and times of pages in the reader's language, with gettext and Babel.

English texts are in templates, modules and the facts of apps and components. Another language is a line in
:data:`LANGUAGES` and the message files ``webapp/translations/<tag, with _ for ->/*.po``, which are read when the
language is first used; texts that they lack stay English. The JSON API, logs and commands are always in English. Times
are shown relative to now, in the words of CLDR, and exactly. Browsers have the same words, so static/js/patchbay.js
updates them in the page.
"""

import functools
import gettext as catalogs
import re
from collections import UserString
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from babel import Locale
from babel.core import get_global
from babel.dates import format_skeleton, format_timedelta
from babel.numbers import format_decimal

from webapp.kit import sentences
from webapp.kit.message_files import read
from webapp.kit.package_translations import PackageTranslations

if TYPE_CHECKING:
    from werkzeug.datastructures import LanguageAccept

DEFAULT = "en"
# The name of each language in itself, by BCP 47 tag.
LANGUAGES: Mapping[str, str] = {
    DEFAULT: "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "ja": "日本語",
}
MESSAGES_KEPT = 16_384
"""How many messages are kept as pages show them: twice those of pages in all languages together."""
_DOCUMENTATION = "See the documentation"  # the text of the links in the descriptions of components
# A number or its placeholder, before a unit of the messages in any language, which "s’il" in French is not.
_MEASURE = re.compile(r"(\d|\}|\)s) (?=(?:B|[kKMG]i?[Bo]|ms|s|min|[hmdjT])(?![\w’']))")
_FOLDER = Path(__file__).parent.parent / "translations"
_language: ContextVar[str] = ContextVar("language", default=DEFAULT)
_packages: list[PackageTranslations] = []


def speak(language: str) -> None:
    """Set the language of what this thread renders: ``language``, or without its region ("de" for "de-AT").

    If neither is supported, it is English. Pages call it themselves only to be in English as a whole, as those of Build
    are; others are in the language that :func:`choose` finds.
    """
    spoken = (tag for tag in (language, language.partition("-")[0]) if tag in LANGUAGES)
    _language.set(next(spoken, DEFAULT))


def choose(chosen: str, accepted: "LanguageAccept | None", instance: str) -> None:
    """Set the language of a page or mail to the first of these that there is:

    1. the one ``chosen`` for it: by the reader in their settings, or by the link or portal that they came by;
    2. the one that the browser prefers of those here (``Accept-Language``, RFC 9110 section 12.5.4), if a browser asks;
    3. that of the ``instance`` (``PATCHBAY_LANGUAGE``).

    It is called at each request, and again with what is ``chosen`` once it is known who reads.
    """
    speak(chosen or (accepted and accepted.best_match(tuple(LANGUAGES))) or instance)


def use(translations: PackageTranslations) -> None:
    """Use ``translations`` for the texts of apps and components that our own message files do not translate."""
    _packages[:] = [translations]


def language() -> str:
    """The current language, as a BCP 47 tag."""
    return _language.get()


def direction() -> str:
    """The direction in which the current language is written, ``ltr`` or ``rtl``."""
    return _locale(_language.get()).text_direction


def catalog() -> catalogs.NullTranslations:
    """The messages of the current language."""
    return _catalog(_language.get())


def gettext(message: str) -> str:
    """``message`` in the current language."""
    return unbroken(_catalog(_language.get()).gettext(message))


def pgettext(context: str, message: str) -> str:
    """``message`` in the current language, where it means what ``context`` says: "Runs" as a noun, or as a verb."""
    return unbroken(_catalog(_language.get()).pgettext(context, message))


def ngettext(singular: str, plural: str, count: int) -> str:
    """The form of a message for ``count`` in the current language; the caller inserts the count."""
    return _catalog(_language.get()).ngettext(singular, plural, count)


@functools.lru_cache(maxsize=MESSAGES_KEPT)
def unbroken(text: str) -> str:
    """``text`` with a no-break space between each number, or its placeholder, and its unit: they stay on one line."""
    return _MEASURE.sub("\\1\N{NO-BREAK SPACE}", text)


def count_of(number: int, singular: str, plural: str, **more: object) -> str:
    """The message for ``number``, such as ``1 trigger`` or ``1,200 triggers``, with the number in ``{count}``.

    ``more`` are the values of its other placeholders.
    """
    count = str(number) if number < 1_000 else _decimal(number, _language.get())
    return ngettext(singular, plural, number).format(count=count, **more)


@functools.lru_cache(maxsize=1024)  # pages count the same things again and again
def _decimal(number: int, language: str) -> str:
    return format_decimal(number, locale=_locale(language))


def lazy(message: str) -> str:
    """``message``, translated when it is shown: for constants, which are created before the language is known.

    It behaves like a string, but ``join`` and JSON need ``str(…)`` of it.
    """
    return cast("str", _Lazy(message))


def lazy_pgettext(context: str, message: str) -> str:
    """``message`` as ``context`` means it, translated when it is shown: as :func:`lazy` is to :func:`gettext`."""
    return cast("str", _Lazy(message, context))


def translated(text: str) -> str:
    """``text`` of an app, a component or the service in the current language, as far as there is a translation."""
    language = _language.get()
    if not text or language == DEFAULT:
        return text
    words, link = without_link(text)
    known = _packages[0].translate(_ours, language, words) if _packages else _ours(words)
    label = gettext("See the documentation")
    return f"{known} [{label}]{link}" if link else known


def _ours(words: str) -> str:
    known = sentences.of_folder(_folder(_language.get())).translated(words)  # the "To" of an app may differ
    return gettext(words) if known == words else known


def without_link(text: str) -> tuple[str, str]:
    """A description without the link to documentation at its end, and the URL of the link in parentheses."""
    words, _, link = text.partition(f" [{_DOCUMENTATION}]")
    return (words, link) if link.startswith("(") and link.endswith(")") else (text, "")


class _Lazy(UserString):
    def __init__(self, message: str, context: str = "") -> None:
        self.message, self.context = message, context

    @property
    def data(self) -> str:  # type: ignore[override]  # UserString stores it; here it depends on the language
        return pgettext(self.context, self.message) if self.context else gettext(self.message)


@functools.cache
def _catalog(language: str) -> catalogs.NullTranslations:
    files = sorted(_folder(language).glob("*.po"), key=lambda file: (file.name != "pages.po", file.name))
    return read(files) if files else catalogs.NullTranslations()


def _folder(language: str) -> Path:
    return _FOLDER / language.replace("-", "_")


_KIB, _MIB = 1 << 10, 1 << 20
_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86400, 7 * 86400


class Moment(NamedTuple):
    """A time as a page shows it: ``iso`` for scripts, ``words`` as text, ``exact`` on hover."""

    iso: str
    words: str
    exact: str


def moment(ms: int, now_ms: int, zone: tzinfo = UTC) -> Moment:
    """``ms`` (epoch milliseconds) as a page shows it at ``now_ms``; ``exact`` is in ``zone`` and contains its name."""
    iso, exact = _written(ms // 1000, zone, language())
    return Moment(iso, _words(ms, now_ms, zone), exact)


def duration(seconds: int) -> str:
    """A waiting time such as ``17 seconds`` or ``2 minutes``, rounded up to whole minutes from one minute on."""
    whole = seconds if seconds < _MINUTE else -(-seconds // _MINUTE) * _MINUTE
    words = format_timedelta(timedelta(seconds=whole), threshold=1, locale=_locale(language()))
    return words.replace(" ", "\N{NO-BREAK SPACE}")


def size(count: int) -> str:
    """``count`` bytes such as ``7 B``, ``99 KiB`` or ``8.6 MiB`` on one line: in the units of limits (IEC 80000-13)."""
    locale = _locale(language())
    if round(count / _KIB) >= _KIB:
        return gettext("{number} MiB").format(number=format_decimal(count / _MIB, "#,##0.0", locale))
    if count >= _KIB:
        return gettext("{number} KiB").format(number=format_decimal(count / _KIB, "#,##0", locale))
    return gettext("{number} B").format(number=count)


@functools.lru_cache(maxsize=8192)  # lists show the same times again and again
def _written(seconds: int, zone: tzinfo, language: str) -> tuple[str, str]:
    at = datetime.fromtimestamp(seconds, zone)
    exact = gettext("{date}, {time}").format(date=_date(at, "yMMMd", language), time=f"{at:%H:%M:%S %Z}")
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}", exact


def _words(ms: int, now_ms: int, zone: tzinfo) -> str:
    """A time relative to now, such as ``4 minutes ago`` or ``in 2 hours``; a date if it is more than a week away."""
    seconds = abs(now_ms - ms) // 1000
    if seconds < 45:
        return gettext("just now") if ms <= now_ms else gettext("in a moment")
    if seconds < _WEEK:
        unit = _MINUTE if seconds < _HOUR else _HOUR if seconds < _DAY else _DAY
        whole = max(unit, seconds // unit * unit)
        return _from_now(-whole if ms <= now_ms else whole, language())
    at, today = (datetime.fromtimestamp(value / 1000, zone) for value in (ms, now_ms))
    return _date(at, "MMMd" if at.year == today.year else "yMMMd", language())


@functools.cache  # about ninety values for each language
def _from_now(seconds: int, language: str) -> str:
    return format_timedelta(timedelta(seconds=seconds), threshold=1, add_direction=True, locale=_locale(language))


def _date(at: datetime, skeleton: str, language: str) -> str:
    return format_skeleton(skeleton, at, tzinfo=at.tzinfo, locale=_locale(language))


def city(zone: str) -> str:
    """The city that an IANA time zone is named after, as CLDR writes it in the current language, or "" if it does not.

    English is in the zone's own name.
    """
    language = _language.get()
    if language == DEFAULT:
        return ""
    known = _locale(language).time_zones
    facts = known.get(zone) or known.get(get_global("zone_aliases").get(zone, zone)) or {}
    return str(facts.get("city", ""))


@functools.cache
def _locale(language: str) -> Locale:
    """The locale of ``language``; English is British, with the day before the month."""
    return Locale.parse("en-GB" if language == "en" else language, sep="-")
