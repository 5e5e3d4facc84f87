"""A client at Slack whose events come to its one address, and a Slack that is written from
https://docs.slack.dev/apis/events-api/ and what it links to.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.provider import Answer, DeclaredProvider, Heard
from tests.fakes.triggers import summaries
from webapp.kit.clock import SECOND
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.triggers import app_events, deployments, inbox
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.service.outbound.oauth import TokenResult

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
PEOPLE = {"alice": ("T1", "U-alice"), "bob": ("T1", "U-bob"), "eve": ("T2", "U-eve")}


class Slack(DeclaredProvider):
    """Tells whose a token is, and who may open a channel: ``channels`` by id, with their people."""

    channels: Mapping[str, set[str]] = {"C1": {"U-alice", "U-bob"}, "G1": {"U-alice"}}
    broken = False

    def answer(self, heard: Heard) -> Answer:
        name = heard.headers.get("authorization", "").removeprefix("Bearer token-")
        if name not in PEOPLE or self.broken:
            return Answer(503 if self.broken else 200, {"ok": False, "error": "invalid_auth"})
        team, user = PEOPLE[name]
        if heard.place.endswith("/auth.test"):
            return Answer(200, {"ok": True, "team_id": team, "user_id": user, "user": name, "team": team})
        assert heard.place.endswith("/conversations.info")
        self.asked.append(f"{name} {heard.query['channel']}")
        if user in self.channels.get(heard.query["channel"], set()):
            return Answer(200, {"ok": True, "channel": {"id": heard.query["channel"]}})
        return Answer(200, {"ok": False, "error": "channel_not_found"})


class Stage:
    """The service with one client at Slack, whose signing secret its owner entered."""

    def __init__(self, bench: Bench) -> None:
        self.service, self.scene, self.bench = bench.service, bench.scene, bench
        app = bench.app("slack")
        self.slack = Slack(app, {}, {})
        for front in bench.fronts:
            front.provider = self.slack
        self.client = oauth_apps.add(
            self.service, app="slack", client_id="c", client_secret="s", project_id=self.scene.project_id,
            events_secret=SECRET,
        )  # fmt: skip

    def connect(self, name: str, account_id: str | None = None) -> Account:
        made = connect_tokens.create(self.service, self.scene, connect_tokens.TokenRequest(name), client_id=None)
        token, app = connect_tokens.verify(self.service, made["token"]), self.bench.app("slack")
        result = TokenResult(f"token-{name}", None, None, None, "user", {})
        return connections.connect_with_grant(
            self.service, token, app, self.client, result,
            requested=app.default_scopes, profile=None, fields={}, account_id=account_id,
        )  # fmt: skip

    def deploy(self, name: str, account: Account | None = None, **props: Any) -> DeployedTrigger:
        component = self.service.catalog.component("slack-new-message")
        assert component is not None
        account = account or self.connect(name)
        values = {"slack": {"authProvisionId": account.id}, **props}
        return deployments.deploy(self.service, Deployment(self.scene, name, component, values))

    def send(self, body: Any, *, secret: str = SECRET, late: int = 0, client_id: str | None = None) -> int:
        raw, now = json.dumps(body), self.service.clock()
        sent = str((now - late) // SECOND)
        digest = hmac.new(secret.encode(), f"v0:{sent}:{raw}".encode(), hashlib.sha256).hexdigest()
        headers = (("X-Slack-Request-Timestamp", sent), ("X-Slack-Signature", f"v0={digest}"))
        request = InboundRequest("POST", "/", "http://x/", (), headers, raw.encode(), "192.0.2.1", now)
        self.answer = app_events.receive(self.service, "slack", client_id or self.client.id, request)
        return self.answer.status

    def work(self) -> None:
        """Run what waits, as the worker does."""
        while (waiting := inbox.claim(self.service)) is not None:
            inbox.run_queued(self.service, waiting)

    def texts(self, trigger: DeployedTrigger) -> list[str]:
        self.work()
        return sorted(summaries(self.service, trigger))


def told(
    text: str, *, channel: str = "C1", kind: str = "channel", team: str = "T1", seen_by: str = ""
) -> dict[str, Any]:
    """The wrapper of https://docs.slack.dev/reference/events/message."""
    message = {"type": "message", "channel": channel, "channel_type": kind, "user": "U9", "text": text, "ts": "1.2"}
    listed = [{"enterprise_id": None, "team_id": team, "user_id": seen_by, "is_bot": False}] if seen_by else []
    outer = {"type": "event_callback", "team_id": team, "event": message, "authorizations": listed}
    return outer | {"event_id": f"Ev-{text}", "event_time": 1355517523, "is_ext_shared_channel": False}
