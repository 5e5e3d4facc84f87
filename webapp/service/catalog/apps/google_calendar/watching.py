"""What the components of Google Calendar that are code share."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from webapp.service.components.authoring import Context, Option, Options, app, string

Event = dict[str, Any]


def _find_calendars(ctx: Context) -> Options:
    """The calendars that the person sees in Google Calendar."""
    token = ctx.previous.get("token")
    if ctx.page and not token:
        return Options([])
    answer = ctx.http.get("/users/me/calendarList", params={"maxResults": 250, "pageToken": token}).json()
    options = [Option(_name(item), item["id"]) for item in answer.get("items", [])]
    following = answer.get("nextPageToken")
    return Options(options, {"token": following} if following else None)


def events_url(ctx: Context) -> str:
    """The address of the events of the chosen calendar."""
    return f"/calendars/{quote(ctx.props.calendar_id, safe='')}/events"


def iso(moment: datetime) -> str:
    """As Google Calendar writes times."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _name(item: Event) -> str:
    return str(item.get("summaryOverride") or item.get("summary") or item["id"])


account = app("google_calendar")
calendar_prop = string(label="Calendar", default="primary", options=_find_calendars, use_query=True)
