"""Jira as far as dynamic webhooks go, written from
https://developer.atlassian.com/cloud/jira/platform/rest/v2/api-group-webhooks/ and
https://developer.atlassian.com/cloud/jira/platform/webhooks/.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey

from tests.fakes.declared.provider import CLIENT_SECRET, Answer, Heard
from tests.fakes.declared.push import PushProvider, Stage
from webapp.kit.clock import DAY, SECOND, iso
from webapp.service.components.calls import HttpAnswer
from webapp.service.domain.triggers import app_events
from webapp.service.domain.triggers.inbound_requests import InboundRequest

KEY = "jira-issue-updated"
AT_MOST = 5
EVENTS = {
    f"{subject}_{change}"
    for subject in ("jira:issue", "comment")
    for change in ("created", "updated", "deleted")
} | {"issue_property_set", "issue_property_deleted"}  # fmt: skip
FILTER = re.compile(r"project (= \d+|!= NULL)")
NAMES = ({"jqlFilter", "events"}, {"jqlFilter", "events", "fieldIdsFilter"})


@dataclass
class Jira(PushProvider):
    """One site, the issues that people see there, and webhooks by id. ``now`` is the time there."""

    issues: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    webhooks: dict[int, dict[str, Any]] = field(default_factory=dict)
    may_watch: bool = True
    now: int = 0

    def answer(self, heard: Heard) -> Answer:
        person = {name.lower(): value for name, value in heard.headers.items()}["authorization"].removeprefix(
            "Bearer token-"
        )
        path = urlsplit(heard.place).path
        if path == "/me":
            return Answer(200, {"account_id": person, "email": f"{person}@example.com"})
        if path == "/oauth/token/accessible-resources":
            return Answer(200, [{"id": "c1", "url": "https://acme.atlassian.net", "scopes": []}])
        path = path.removeprefix("/ex/jira/c1/rest/api/2/")
        if path == "search/jql":
            return Answer(200, {"issues": self.issues.get(person, [])[::-1]})
        self.asked.append(f"{heard.method} {path}")
        if not self.may_watch:
            return Answer(403, {"errorMessages": ["The scope manage:jira-webhook is missing."]})
        body = json.loads(heard.body)
        if heard.method == "POST" and path == "webhook":
            return self._register(person, body)
        assert set(body) == {"webhookIds"}
        assert all(type(each) is int for each in body["webhookIds"])
        own = [id for id in body["webhookIds"] if self.webhooks.get(id, {}).get("person") == person]
        if heard.method == "DELETE" and path == "webhook":
            self.webhooks = {id: each for id, each in self.webhooks.items() if id not in own}
            return Answer(202)
        assert (heard.method, path) == ("PUT", "webhook/refresh")
        if own != body["webhookIds"]:
            return Answer(400, {"errorMessages": ["A webhook was not found."]})
        for id in own:
            self.webhooks[id]["ends"] = self.now + 30 * DAY
        return Answer(200, {"expirationDate": iso(self.now + 30 * DAY).replace("Z", "+0000")})

    def _register(self, person: str, body: dict[str, Any]) -> Answer:
        assert set(body) == {"url", "webhooks"}
        (asked,) = body["webhooks"]
        assert set(asked) in NAMES
        assert set(asked["events"]) <= EVENTS
        if not FILTER.fullmatch(asked["jqlFilter"]):
            return Answer(200, {"webhookRegistrationResult": [{"errors": ["The clause is unsupported"]}]})
        if any(each["url"] != body["url"] for each in self.webhooks.values()):
            return Answer(400, {"errorMessages": ["Only a single URL per app is allowed to be registered."]})
        if len([each for each in self.webhooks.values() if each["person"] == person]) >= AT_MOST:
            return Answer(200, {"webhookRegistrationResult": [{"errors": ["There are 5 webhooks already."]}]})
        id = 1000 + len(self.asked)
        self.webhooks[id] = {**asked, "url": body["url"], "person": person, "ends": self.now + 30 * DAY}
        return Answer(200, {"webhookRegistrationResult": [{"createdWebhookId": id}]})


class JiraStage(Stage):
    """People who watch issues, with accounts of one client."""

    def token(self, *, secret: str = CLIENT_SECRET, age: int = 0, algorithm: str = "HS256") -> str:
        """What Jira signs with the secret of the client, three minutes long."""
        at = self.clock() // SECOND - age
        key = OctKey.import_key(secret.encode())
        claims = {"iat": at, "exp": at + 180}
        return jwt.encode({"alg": algorithm}, claims, key, algorithms=[algorithm])

    def tell(self, hooks: Any, authorization: str | None = None, body: bytes | None = None) -> HttpAnswer:
        """A notification of the webhooks ``hooks`` at the address of the client."""
        headers = (("Authorization", f"Bearer {self.token()}" if authorization is None else authorization),)
        raw = json.dumps({"webhookEvent": "jira:issue_updated", "matchedWebhookIds": hooks}).encode()
        url = f"{self.service.settings.public_url}/h/app/jira/{self.client.id}"
        request = InboundRequest("POST", "/", url, (), headers, body or raw, "192.0.2.1", self.clock())
        return app_events.receive(self.service, "jira", self.client.id, request)

    def change(self, person: str, id: int) -> None:
        """An issue that the person sees changes, and no webhook says so yet."""
        jira = self.provider
        assert isinstance(jira, Jira)
        fields = {"summary": f"Issue {id}", "updated": iso(self.clock() + id).replace("Z", "+0000")}
        jira.issues.setdefault(person, []).append({"id": str(id), "key": f"PRJ-{id}", "fields": fields})
