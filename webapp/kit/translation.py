"""The words of pages in the language of who reads them, by gettext.

English stands in the templates and modules themselves. Another language is a line in :data:`LANGUAGES` and a catalog,
``webapp/translations/<tag, with _ for ->/LC_MESSAGES/patchbay.mo``; what a catalog lacks stays English. The JSON API,
logs and commands speak English alone.
"""

import functools
import gettext as catalogs
from collections import UserString
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, cast

DEFAULT = "en"
LANGUAGES: Mapping[str, str] = {DEFAULT: "English"}  # by BCP 47 tag; each in its own words
_FOLDER = Path(__file__).parent.parent / "translations"
_language: ContextVar[str] = ContextVar("language", default=DEFAULT)


def speak(language: str) -> None:
    """Use ``language`` in what this thread renders from now on; English when it is not spoken here."""
    _language.set(language if language in LANGUAGES else DEFAULT)


def language() -> str:
    """The language that is spoken now, as a BCP 47 tag."""
    return _language.get()


def gettext(message: str) -> str:
    """``message`` in the language that is spoken now."""
    return _catalog(_language.get()).gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """The form of a message that fits ``count``; the count itself is filled in by the caller."""
    return _catalog(_language.get()).ngettext(singular, plural, count)


def count_of(number: int, singular: str, plural: str) -> str:
    """``1 trigger``, ``1,200 triggers``: the message that fits ``number``, which stands in it as ``{count}``."""
    return ngettext(singular, plural, number).format(count=f"{number:,}")


def lazy(message: str) -> str:
    """``message`` in the language that is spoken when it is shown: for constants, which are made before that is known.

    It behaves as the string it shows, but is none to C code: join and JSON want ``str(…)`` of it.
    """
    return cast("str", _Lazy(message))


def install(environment: Any) -> None:
    """Give a Jinja environment ``_()``, ``{% trans %}`` (trimmed of line breaks) and their plural."""
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(gettext, ngettext, newstyle=True)


class _Lazy(UserString):
    def __init__(self, message: str) -> None:
        self.message = message

    @property
    def data(self) -> str:  # type: ignore[override]  # UserString keeps a value; this one finds it
        return gettext(self.message)


@functools.cache
def _catalog(language: str) -> catalogs.NullTranslations:
    return catalogs.translation("patchbay", _FOLDER, [language.replace("-", "_")], fallback=True)
