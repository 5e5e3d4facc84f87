"""The logs of one trigger; of a service that has none, its events (contract "Deployed triggers")."""

from webapp.dashboard.client.logs import LogReader
from webapp.dashboard.client.models.logs import LogEntry, LogPage, LogPageInfo
from webapp.dashboard.client.models.triggers import Event, Trigger
from webapp.dashboard.client.transport import Params
from webapp.dashboard.client.triggers import TriggerClient
from webapp.errors import NotFound
from webapp.kit.clock import iso


class TriggerLogs:
    """Reads from ``logs`` what they have of ``trigger``, and else from the list of its events."""

    def __init__(self, logs: LogReader, triggers: TriggerClient, trigger: Trigger) -> None:
        self._logs, self._triggers, self._trigger = logs, triggers, trigger

    def page(self, filters: Params, *, limit: int, after: str = "") -> LogPage | None:
        """A page of the logs. Without them, a page of events cannot be filtered."""
        page = self._logs.page(filters, limit=limit, after=after)
        if page is not None or filters.get("kind") != "event":
            return page
        listed = self._triggers.events(self._trigger.id, n=limit + 1, after=after)
        events = listed[:limit]
        more = events[-1].id if events and self._are_older(events[-1].id, len(listed) > limit) else ""
        entries = tuple(self._entry(event) for event in events)
        return LogPage(data=entries, page_info=LogPageInfo(end_cursor=more), filterable=False)

    def entry(self, entry_id: str) -> LogEntry:
        """One entry about the trigger. Raises :class:`NotFound`."""
        try:
            entry = self._logs.entry(entry_id)
        except NotFound:
            event = self.event(entry_id)
            return self._entry(event).model_copy(update={"response": {"event": event.body}})
        if entry.trigger_id != self._trigger.id:
            raise NotFound
        return entry

    def event(self, event_id: str) -> Event:
        """One event, whole. Raises :class:`NotFound`."""
        events = self._triggers.events(self._trigger.id, n=1, event_id=event_id)
        if not events or events[0].id != event_id:
            raise NotFound
        return events[0]

    def _are_older(self, event_id: str, surely: bool) -> bool:
        """Whether events are left for the next page. A page of large ones is shorter than was asked for."""
        if surely:
            return True
        older = self._triggers.events(self._trigger.id, n=1, after=event_id)
        return any(event.id != event_id for event in older)

    def _entry(self, event: Event) -> LogEntry:
        return LogEntry(
            kind="event",
            id=event.id,
            at="" if event.at is None else iso(event.at),
            status="succeeded",
            outcome="emit",
            title=event.summary,
            app=self._trigger.app,
            trigger_id=self._trigger.id,
            event_id=event.id,
        )
