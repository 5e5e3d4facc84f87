"""Microsoft Graph as far as change notifications go, written from
https://learn.microsoft.com/en-us/graph/api/resources/subscription,
https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks and
https://learn.microsoft.com/en-us/graph/change-notifications-lifecycle-events.
"""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.declared.provider import Answer, Heard
from tests.fakes.declared.push import PushProvider, Stage
from webapp.kit.clock import iso, parse_iso
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

KEY = "microsoft_outlook-new-email"


@dataclass
class Graph(PushProvider):
    """Mailboxes by person, and what is subscribed to. ``refuses`` every change of a subscription with that status."""

    mail: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    subscribed: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuses: int = 0

    def answer(self, heard: Heard) -> Answer:
        person = heard.headers.get("authorization", heard.headers.get("Authorization", "")).removeprefix(
            "Bearer token-"
        )
        path = urlsplit(heard.place).path.removeprefix("/v1.0")
        if path == "/me":
            return Answer(200, {"id": person, "userPrincipalName": f"{person}@example.com"})
        if path == "/me/mailFolders/inbox/messages":
            return Answer(200, {"value": self.mail.get(person, [])[::-1]})
        self.asked.append(f"{heard.method} {path}")
        if self.refuses:
            return Answer(self.refuses, {"error": {"code": "x", "message": "Not now"}})
        body = json.loads(heard.body or b"{}")
        if heard.method == "POST":
            return self._subscribe(person, body)
        known = self.subscribed.get(path.rpartition("/")[2])
        if known is None or known["person"] != person:
            return Answer(404, {"error": {"code": "ResourceNotFound", "message": "The object was not found."}})
        if heard.method == "DELETE":
            del self.subscribed[known["id"]]
            return Answer(204)
        known |= body
        return Answer(200, known)

    def _subscribe(self, person: str, body: dict[str, Any]) -> Answer:
        for name in ("notificationUrl", "lifecycleNotificationUrl"):
            told = self.receive(body[name], query={"validationToken": "Validation: <1> é"})
            if (told.status, told.headers["content-type"].split(";")[0]) != (200, "text/plain"):
                return Answer(400, {"error": {"code": "ValidationError", "message": "Validation failed"}})
            assert told.body == "Validation: <1> é"
        made = {**body, "id": f"sub-{len(self.asked)}", "person": person}
        self.subscribed[made["id"]] = made
        return Answer(201, made)

    def tell(self, subscription: dict[str, Any], lifecycle: str = "", **changes: Any) -> int:
        """Tell of a change, or of what becomes of the subscription; the status of the answer."""
        told = {"subscriptionId": subscription["id"], "clientState": subscription["clientState"]}
        told |= {"lifecycleEvent": lifecycle} if lifecycle else {"changeType": "created"}
        return self.receive(subscription["notificationUrl"], {"value": [told | changes]}).status

    def get_mail(self, person: str, id: str, *, told: bool = True) -> None:
        """A message comes; whoever subscribed to the mailbox is told."""
        at = iso(1_893_456_000_000 + sum(map(len, self.mail.values())) * 1_000)
        self.mail.setdefault(person, []).append({"id": id, "subject": f"Mail {id}", "receivedDateTime": at})
        for each in list(self.subscribed.values()):
            if told and each["person"] == person:
                assert self.tell(each) == 202

    def subscription(self, stage: Stage, trigger: DeployedTrigger) -> dict[str, Any]:
        """What stands for one trigger."""
        endpoint = stage.endpoint(trigger)
        (one,) = [each for each in self.subscribed.values() if each["notificationUrl"] == endpoint]
        return one

    def ends(self, stage: Stage, trigger: DeployedTrigger) -> int:
        """When that ends."""
        return parse_iso(self.subscription(stage, trigger)["expirationDateTime"])
