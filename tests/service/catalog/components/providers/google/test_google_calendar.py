"""Google Calendar's components in Python, against a fake written from
https://developers.google.com/workspace/calendar/api/v3/reference/events."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.service.catalog.components.providers.app_harness import AppHarness, Asked, FakeAnswer
from tests.service.catalog.components.trigger_harness import logged

PLACE = "GET /calendars/primary/events"


def event(id: str, status: str = "confirmed", created: str = "2030-01-01T00:00:00.000Z") -> dict[str, Any]:
    return {"id": id, "status": status, "summary": f"Meeting {id}", "created": created, "updated": created}


@pytest.fixture
def calendar(desk_of: Callable[..., AppHarness]) -> AppHarness:
    harness = desk_of("google_calendar", oauth_access_token="token")
    standing = [event("1"), event("2", "cancelled")]

    def listing(asked: Asked) -> Any:
        if asked.query.get("fields"):
            return {"nextPageToken": "p2"} if "pageToken" not in asked.query else {"nextSyncToken": "now"}
        if asked.query.get("syncToken") == "old":
            return FakeAnswer(410, {"error": {"code": 410}})
        if asked.query.get("syncToken"):
            later = iso(datetime.now(UTC) + timedelta(seconds=1))
            changes = [
                event("3", created=later),
                event("4", created="2020-01-01T00:00:00.000Z"),
                event("5", "cancelled"),
            ]
            return {"items": changes, "nextSyncToken": "later"}
        return {"items": standing}

    harness.on(PLACE, listing)
    return harness


def iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("trigger", "first", "then"),
    [
        ("new-event", ["Meeting 1"], ["Meeting 3"]),
        ("new-or-updated-event", ["Meeting 1"], ["Meeting 3", "Meeting 4"]),
        ("new-cancelled-event", ["Meeting 2"], ["Meeting 5"]),
    ],
)
def test_changes_are_reported(calendar: AppHarness, trigger: str, first: list[str], then: list[str]) -> None:
    watched = calendar.trigger(trigger, calendar_id="primary")
    assert [told.summary for told in watched.deploy()] == first
    assert [told.summary for told in watched.tick()] == then
    assert watched.state["token"] == "later"


def test_a_token_that_is_too_old_is_replaced(calendar: AppHarness) -> None:
    watched = calendar.trigger("new-or-updated-event", calendar_id="primary")
    watched.state["token"] = "old"
    reply = watched.call("run", {"timestamp": 0, "interval_seconds": 300})
    assert reply.error is None and "the list itself is read" in logged(reply)
    assert watched.state["token"] == "now"


def test_an_event_is_reported_before_it_starts(calendar: AppHarness) -> None:
    now = datetime.now(UTC)
    soon, before = [{"dateTime": (now + timedelta(minutes=minutes)).isoformat()} for minutes in (5, -5)]
    items = [
        event("1") | {"start": soon},
        event("2") | {"start": before},
        event("3") | {"start": {"date": "2030-01-31"}},
    ]
    calendar.on(PLACE, {"items": items})
    told = calendar.trigger("upcoming-event-alert", calendar_id="primary", minutes=10).tick()
    assert [one.summary for one in told] == ["Meeting 1"]


def test_guests_are_added_to_those_who_are_invited(calendar: AppHarness) -> None:
    calendar.on("GET /calendars/primary/events/1", event("1") | {"attendees": [{"email": "Ada@example.com"}]})
    calendar.on("PATCH /calendars/primary/events/1", event("1"))
    reply = calendar.run(
        "add-attendees-to-event",
        calendar_id="primary", event_id="1", attendees=["ada@example.com", "bob@example.com"],
    )  # fmt: skip
    assert calendar.last.json == {"attendees": [{"email": "Ada@example.com"}, {"email": "bob@example.com"}]}
    assert reply.exports["$summary"] == "Invited 1 guest to Meeting 1"


def test_calendars_are_offered(calendar: AppHarness) -> None:
    calendars = [{"id": "primary", "summary": "Ada"}, {"id": "team@x", "summary": "Team", "summaryOverride": "Us"}]
    calendar.on("GET /users/me/calendarList", {"items": calendars})
    offered = calendar.options("add-attendees-to-event", "calendar_id")["found"]
    assert offered == {"Ada": "primary", "Us": "team@x"}
