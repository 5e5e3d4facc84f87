"""Users' preferences: theme, time zone and language of the pages, and whether to be mailed. This module owns
``preferences``.

A user who never chose anything has no row and gets the defaults. Applying a preference is left to the dashboard.
"""

import functools
import zoneinfo
from dataclasses import dataclass, replace

from webapp.errors import Detail, Invalid
from webapp.kit.clock import Clock
from webapp.kit.translation import LANGUAGES, gettext
from webapp.store.contract import Reader, Store
from webapp.store.table import Table

THEMES = ("auto", "light", "dark")
BROWSER_ZONE = ""  # the zone that the browser is in
BROWSER_LANGUAGE = ""  # the language that the browser asks for


@dataclass(frozen=True, slots=True)
class Preferences:
    """A user's preferences. ``time_zone`` is an IANA name, or :data:`BROWSER_ZONE`; ``language`` a BCP 47 tag, or
    :data:`BROWSER_LANGUAGE`. With ``reconnect_mails``, the user is mailed when an account needs them."""

    theme: str = "auto"
    time_zone: str = BROWSER_ZONE
    language: str = BROWSER_LANGUAGE
    reconnect_mails: bool = True


_PREFERENCES = Table("preferences", Preferences, key="user_id", write_only=("user_id", "updated_at"))


def of_user(store: Reader, user_id: str) -> Preferences:
    """A user's preferences. A language or time zone that is no longer supported becomes the default."""
    chosen = _PREFERENCES.get(store, user_id) or Preferences()
    zone = chosen.time_zone if chosen.time_zone in time_zones() else BROWSER_ZONE
    language = chosen.language if chosen.language in LANGUAGES else BROWSER_LANGUAGE
    return replace(chosen, time_zone=zone, language=language)


def save(store: Store, clock: Clock, user_id: str, chosen: Preferences) -> None:
    """Store a user's preferences. Raises :class:`Invalid` with a detail for each unsupported value."""
    problems = _problems(chosen)
    if problems:
        raise Invalid(problems[0].message, problems)
    with store.write() as tx:
        _PREFERENCES.upsert(tx, chosen, user_id=user_id, updated_at=clock())


def stop_reconnect_mails(store: Store, clock: Clock, user_id: str) -> None:
    """Do not mail a user any more when an account needs them; their other preferences stay."""
    with store.write() as tx:
        chosen = replace(_PREFERENCES.get(tx, user_id) or Preferences(), reconnect_mails=False)
        _PREFERENCES.upsert(tx, chosen, user_id=user_id, updated_at=clock())


@functools.cache
def time_zones() -> tuple[str, ...]:
    """The supported time zones: the IANA names of places, and UTC, without the legacy names."""
    places = {name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/")}
    return (BROWSER_ZONE, "UTC", *sorted(places))


def _problems(chosen: Preferences) -> list[Detail]:
    problems = []
    if chosen.theme not in THEMES:
        problems.append(Detail("theme", gettext("Choose light, dark, or the same as the system.")))
    if chosen.time_zone not in time_zones():
        problems.append(Detail("time_zone", gettext("Choose a time zone from the list.")))
    if chosen.language not in (BROWSER_LANGUAGE, *LANGUAGES):
        problems.append(Detail("language", gettext("Choose a language from the list.")))
    return problems
