"""Schedules in words, and what is wrong with one that a person typed (contract "Prop types": ``$.interface.timer``)."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from webapp.dashboard.component.form_data import InvalidValue
from webapp.kit.translation import gettext, ngettext


def in_words(schedule: Any) -> str:
    """``Every 15 minutes``, ``At 09:00 on Monday through Friday (Europe/Berlin)``; "" for what is none."""
    parts = schedule if isinstance(schedule, dict) else {}
    cron, seconds = parts.get("cron"), parts.get("intervalSeconds")
    if isinstance(cron, str) and cron:
        return f"{_explained(cron)} ({parts.get('timezone') or 'UTC'})"
    return every(seconds) if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds > 0 else ""


def every(seconds: int) -> str:
    """``Every hour``, ``Every 90 seconds``."""
    length = next(length for length in (86_400, 3_600, 60, 1) if seconds % length == 0)
    count = seconds // length
    sentences = {
        86_400: ngettext("Every day", "Every {count} days", count),
        3_600: ngettext("Every hour", "Every {count} hours", count),
        60: ngettext("Every minute", "Every {count} minutes", count),
        1: ngettext("Every second", "Every {count} seconds", count),
    }
    return sentences[length].format(count=f"{count:,}")


def check(label: str, schedule: dict[str, Any]) -> None:
    """Raise :class:`InvalidValue` for a cron expression or a time zone that nobody understands."""
    if "cron" not in schedule:
        return
    zone = str(schedule.get("timezone") or "UTC")
    try:
        place = ZoneInfo(zone)
    except (KeyError, ValueError, OSError) as error:
        sentence = gettext("“{label}” needs a time zone such as Europe/Berlin; “{zone}” is none.")
        raise InvalidValue(sentence.format(label=label, zone=zone[:60])) from error
    try:
        next(CronSim(schedule["cron"], datetime.now(UTC).astimezone(place)))
    except CronSimError as error:
        sentence = gettext("“{label}” is not a cron expression: {reason}. Try 0 9 * * 1-5.")
        raise InvalidValue(sentence.format(label=label, reason=error)) from error
    except StopIteration as error:
        sentence = gettext("“{label}” never comes: there is no such day. Try 0 9 * * 1-5.")
        raise InvalidValue(sentence.format(label=label)) from error


def _explained(cron: str) -> str:
    try:
        return CronSim(cron, datetime.now(UTC)).explain()
    except (CronSimError, ValueError):
        return gettext("Cron {expression}").format(expression=cron)
