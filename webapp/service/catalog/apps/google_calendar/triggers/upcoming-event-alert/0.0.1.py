"""Tell of each event some time before it starts."""

from datetime import UTC, datetime, timedelta

from webapp.service.components.authoring import Context, Trigger, integer, service_db, timer

from .. import watching


class UpcomingEventAlert(Trigger):
    name = "Upcoming event"
    description = (
        "Each event of a calendar some minutes before it starts. "
        "[See the documentation](https://developers.google.com/workspace/calendar/api/v3/reference/events/list)"
    )
    dedupe = "unique"

    google_calendar = watching.account
    calendar_id = watching.calendar_prop
    minutes = integer(label="Minutes before", default=10, min=1, max=1440)
    timer = timer(default={"intervalSeconds": 60})
    db = service_db()

    def run(self, ctx: Context) -> None:
        now = datetime.now(UTC)
        params = {
            "timeMin": watching.iso(now),
            "timeMax": watching.iso(now + timedelta(minutes=ctx.props.minutes)),
            "singleEvents": True,
            "orderBy": "startTime",
            "maxResults": 250,
        }
        for event in ctx.http.get(watching.events_url(ctx), params=params).json().get("items", []):
            start = event.get("start", {}).get("dateTime")
            if start and datetime.fromisoformat(start) > now:
                ctx.emit(event, id=f"{event['id']}-{start}", summary=event.get("summary") or event["id"])
