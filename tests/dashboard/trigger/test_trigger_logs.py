"""The logs of one trigger hold nothing of another, and of a service without logs its events."""

from typing import Any

import pytest

from webapp.dashboard.client.models.logs import LogEntry, LogPage
from webapp.dashboard.client.models.triggers import Event, Trigger
from webapp.dashboard.trigger.trigger_logs import TriggerLogs
from webapp.errors import NotFound

TRIGGER = Trigger(id="dc_1", app="tasks")
OTHERS = LogEntry(kind="event", id="evt_x", trigger_id="dc_2")


class Logs:
    """What a service with or without logs answers."""

    def __init__(self, page: LogPage | None) -> None:
        self.answer = page

    def page(self, filters: Any, *, limit: int, after: str = "") -> LogPage | None:
        return self.answer

    def entry(self, entry_id: str) -> LogEntry:
        if self.answer is None or entry_id != OTHERS.id:
            raise NotFound
        return OTHERS


class Events:
    """A trigger's events; ``at_once`` is how many fit in an answer, ``deaf`` a service that knows no ``after``."""

    def __init__(self, count: int, at_once: int = 100, *, deaf: bool = False) -> None:
        self.events = [Event(id=f"evt_{number}", ts=5, e={"n": number}) for number in range(count)]
        self.at_once, self.deaf = at_once, deaf

    def events_after(self, after: str) -> list[Event]:
        ids = [event.id for event in self.events]
        return self.events[ids.index(after) + 1 :] if after and not self.deaf else self.events

    def __call__(self, trigger_id: str, *, n: int, after: str = "", event_id: str = "") -> list[Event]:
        found = [event for event in self.events_after(after) if event_id in ("", event.id)]
        return found[: min(n, self.at_once)]


def logs(page: LogPage | None, events: Events) -> TriggerLogs:
    client: Any = type("Client", (), {"events": staticmethod(events)})
    return TriggerLogs(Logs(page), client, TRIGGER)


def test_an_entry_of_another_trigger_is_absent() -> None:
    with pytest.raises(NotFound):
        logs(LogPage(), Events(0)).entry(OTHERS.id)


def test_without_logs_events_are_pages_and_nothing_else_is_there() -> None:
    found = logs(None, Events(5))
    first = found.page({"kind": "event"}, limit=3)
    assert first and [entry.id for entry in first.data] == ["evt_0", "evt_1", "evt_2"]
    assert (first.counts, first.data[0].app, first.data[0].trigger_id) == ({}, "tasks", "dc_1")
    rest = found.page({"kind": "event"}, limit=3, after=first.page_info.end_cursor)
    assert rest and [entry.id for entry in rest.data] == ["evt_3", "evt_4"] and not rest.page_info.end_cursor
    assert found.page({"kind": "delivery"}, limit=3) is None
    assert found.entry("evt_3").response == {"event": {"n": 3}}
    with pytest.raises(NotFound):
        found.entry("evt_9")


def test_a_short_page_of_large_events_leads_on_and_that_of_a_service_without_pages_does_not() -> None:
    short = logs(None, Events(5, at_once=2)).page({"kind": "event"}, limit=3)
    assert short and short.page_info.end_cursor == "evt_1"
    whole = logs(None, Events(1, deaf=True)).page({"kind": "event"}, limit=3)
    assert whole and whole.page_info.end_cursor == ""
