"""What a person chose for the pages: theme, time zone, language. This module owns ``preferences``.

Somebody who never chose anything has the defaults, and no row. What a choice does to a page is the dashboard's matter.
"""

import functools
import zoneinfo
from dataclasses import dataclass

from webapp.errors import Detail, Invalid
from webapp.kit.clock import Clock
from webapp.kit.translation import DEFAULT, LANGUAGES, gettext
from webapp.store.contract import Store

THEMES = ("auto", "light", "dark")
BROWSER_ZONE = ""  # the zone that the browser is in


@dataclass(frozen=True, slots=True)
class Preferences:
    """A person's choices. ``time_zone`` is an IANA name, or :data:`BROWSER_ZONE`."""

    theme: str = "auto"
    time_zone: str = BROWSER_ZONE
    language: str = DEFAULT


def of_user(store: Store, user_id: str) -> Preferences:
    """What this person chose. A language or zone that is no longer known falls back to the default."""
    row = store.one("SELECT theme, time_zone, language FROM preferences WHERE user_id = :user", {"user": user_id})
    if row is None:
        return Preferences()
    known = row["time_zone"] in time_zones()
    language = row["language"] if row["language"] in LANGUAGES else DEFAULT
    return Preferences(row["theme"], row["time_zone"] if known else BROWSER_ZONE, language)


def save(store: Store, clock: Clock, user_id: str, chosen: Preferences) -> None:
    """Keep what a person chose. Raises :class:`Invalid` with a detail per field for what there is not to choose."""
    problems = _problems(chosen)
    if problems:
        raise Invalid(problems[0].message, problems)
    with store.write() as tx:
        tx.run(
            "INSERT INTO preferences (user_id, theme, time_zone, language, updated_at)"
            " VALUES (:user, :theme, :zone, :language, :now) ON CONFLICT (user_id) DO UPDATE SET"
            " theme = excluded.theme, time_zone = excluded.time_zone, language = excluded.language,"
            " updated_at = excluded.updated_at",
            {
                "user": user_id, "theme": chosen.theme, "zone": chosen.time_zone, "language": chosen.language,
                "now": clock(),
            },
        )  # fmt: skip


@functools.cache
def time_zones() -> tuple[str, ...]:
    """The IANA names of places, and UTC; without the legacy names that stand for no place."""
    places = {name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/")}
    return (BROWSER_ZONE, "UTC", *sorted(places))


def _problems(chosen: Preferences) -> list[Detail]:
    found = []
    if chosen.theme not in THEMES:
        found.append(Detail("theme", gettext("Choose light, dark, or the same as the system.")))
    if chosen.time_zone not in time_zones():
        found.append(Detail("time_zone", gettext("Choose a time zone from the list.")))
    if chosen.language not in LANGUAGES:
        found.append(Detail("language", gettext("Choose a language from the list.")))
    return found
