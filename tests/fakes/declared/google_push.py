"""Google Calendar as far as its channels and sync tokens go, written from
https://developers.google.com/workspace/calendar/api/guides/push, its references of events.watch and channels.stop, and
https://developers.google.com/workspace/calendar/api/guides/sync.
"""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.declared.provider import Answer, Heard
from tests.fakes.declared.push import PushProvider
from webapp.kit.clock import DAY, iso

KEY = "google_calendar-new-or-updated-event"
LONGEST = 7 * DAY


@dataclass
class GoogleCalendar(PushProvider):
    """What changed by person, and channels by id. Tokens of less than ``forgotten`` changes count for nothing."""

    changes: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    channels: dict[str, dict[str, Any]] = field(default_factory=dict)
    forgotten: int = 0
    now: int = 0

    def answer(self, heard: Heard) -> Answer:
        person = heard.headers.get("authorization", heard.headers.get("Authorization", "")).removeprefix(
            "Bearer token-"
        )
        path = urlsplit(heard.place).path.removeprefix("/calendar/v3")
        if path == "/v1/userinfo":
            return Answer(200, {"sub": person, "email": f"{person}@example.com"})
        self.asked.append(f"{heard.method} {path}")
        body = json.loads(heard.body or b"{}")
        if path == "/calendars/primary/events/watch":
            return self._watch(person, body)
        if path == "/channels/stop":
            known = self.channels.get(body["id"])
            if known is None or (known["person"], known["resourceId"]) != (person, body["resourceId"]):
                return Answer(404, {"error": {"code": 404, "message": "Channel not found"}})
            del self.channels[body["id"]]
            return Answer(204)
        assert path == "/calendars/primary/events"
        return self._list(self.changes.get(person, []), heard.query)

    def _list(self, changes: list[dict[str, Any]], query: dict[str, str]) -> Answer:
        token = {"nextSyncToken": str(len(changes))}
        if "syncToken" in query:
            if int(query["syncToken"]) < self.forgotten:
                return Answer(410, {"error": {"code": 410, "errors": [{"reason": "fullSyncRequired"}]}})
            return Answer(200, {"items": changes[int(query["syncToken"]) :], **token})
        if "fields" in query:
            return Answer(200, token)
        return Answer(200, {"items": [each for each in changes if each["updated"] >= query["updatedMin"]], **token})

    def _watch(self, person: str, body: dict[str, Any]) -> Answer:
        if body["id"] in self.channels or body["type"] != "web_hook" or not body["address"].startswith("https://"):
            return Answer(400, {"error": {"code": 400, "message": "Bad channel"}})
        ends = min(int(body["expiration"]), self.now + LONGEST)
        channel = {**body, "person": person, "resourceId": f"r-{person}", "expiration": str(ends)}
        self.channels[body["id"]] = channel
        self.tell(channel, state="sync")
        return Answer(
            200, {"kind": "api#channel", **{name: channel[name] for name in ("id", "resourceId", "expiration")}}
        )

    def tell(self, channel: dict[str, Any], state: str = "exists", **changes: str) -> int:
        """A message of a channel, which has no body; the status of the answer."""
        headers = {
            "X-Goog-Channel-ID": channel["id"],
            "X-Goog-Channel-Token": channel["token"],
            "X-Goog-Resource-ID": channel["resourceId"],
            "X-Goog-Resource-State": state,
        }
        return self.receive(channel["address"], headers=headers | changes).status

    def change(self, person: str, id: str, *, told: bool = True) -> None:
        """An event is created; the channels of that person tell so."""
        event = {"id": id, "status": "confirmed", "summary": f"Event {id}", "updated": iso(self.now)}
        self.changes.setdefault(person, []).append(event)
        for channel in list(self.channels.values()):
            if told and channel["person"] == person:
                assert self.tell(channel) == 202
