"""Invite further guests to an event."""

from typing import Any
from urllib.parse import quote

from webapp.service.catalog.shared.hints import SETS, counted
from webapp.service.components.authoring import Action, Context, Option, string, string_list

from .. import watching


class AddAttendeesToEvent(Action):
    name = "Add attendees to event"
    description = (
        "Invite further guests to an event; those who are invited stay. "
        "[See the documentation](https://developers.google.com/workspace/calendar/api/v3/reference/events/patch)"
    )
    annotations = SETS

    google_calendar = watching.account
    calendar_id = watching.calendar_prop
    event_id = string(label="Event", description="Its id, as List events gives it.")
    attendees = string_list(label="Guests", description="E-mail addresses.")
    send_updates = string(
        label="Tell the guests",
        default="all",
        optional=True,
        options=[
            Option("All guests", "all"),
            Option("Guests outside of Google Calendar", "externalOnly"),
            Option("Nobody", "none"),
        ],
    )

    def run(self, ctx: Context) -> Any:
        place = f"{watching.events_url(ctx)}/{quote(ctx.props.event_id, safe='')}"
        invited = ctx.http.get(place).json().get("attendees", [])
        known = {guest.get("email", "").lower() for guest in invited}
        new = [{"email": email} for email in ctx.props.attendees if email.lower() not in known]
        event = ctx.http.request(
            "PATCH", place, params={"sendUpdates": ctx.props.send_updates}, json={"attendees": [*invited, *new]}
        ).json()
        ctx.export("$summary", f"Invited {counted(new, 'guest')} to {event.get('summary') or 'the event'}")
        return event
