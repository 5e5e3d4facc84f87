"""A service with an app that a piece brings, whose code the tests play: what it says, and what it was asked.

Its accounts are ``alice`` and ``bob`` of the team ``acme``, and ``eve`` of ``evil``.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fakes.user_data import plant_account
from webapp.service.components.calls import Call, Emitted, ErrorInfo, HttpAnswer, Reply
from webapp.service.domain.accounts import oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployments, inbox
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.domain.triggers.inbound_requests import InboundRequest

SECRET = "canary-secret-of-the-piece"
TEAMS = {"alice": "acme", "bob": "acme", "eve": "evil"}
FOLDER = "packages/piece-bench/1.0.0"

APP = """
slug = "bench"
name = "Bench"
description = "An app that a piece brings."
categories = ["testing"]
auth_type = "oauth"
logo = { letter = "B", color = "#993366" }
docs_url = "https://bench.example/docs"
sources = ["https://bench.example/docs"]
base_url = "https://bench.example"
allowed_hosts = ["bench.example"]

[[credentials]]
place = "bearer"
source = "https://bench.example/docs"

[oauth]
authorize_url = "https://bench.example/authorize"
token_url = "https://bench.example/token"
refresh = "none"
sources = ["https://bench.example/docs"]
client = { console_url = "https://bench.example", steps = ["Make it."], source = "https://bench.example/docs" }

[test]
url = "/me"
source = "https://bench.example/docs"

[piece_events]
package = "@acme/piece-bench"
folder = "packages/piece-bench/1.0.0"
"""
PROPS = {
    "new-message": {"type": "$.interface.apphook", "name": "events", "appProp": "bench"},
    "hook": {"type": "$.interface.http", "name": "http"},
}
HANDSHAKES = {
    "hook-header": ("HEADER_PRESENT", "X-Hook-Secret"),
    "hook-query": ("QUERY_PRESENT", "challenge"),
    "hook-body": ("BODY_PARAM_PRESENT", "challenge"),
}


def write(data: Path) -> None:
    """Put the app and its triggers where an installation has those of pieces."""
    app = data / "pieces" / "apps" / "bench"
    app.mkdir(parents=True)
    (app / "app.toml").write_text(APP, "utf-8")
    for name in ("new-message", "hook", *HANDSHAKES):
        folder = app / "triggers" / name
        folder.mkdir(parents=True)
        strategy, param = HANDSHAKES.get(name, ("NONE", ""))
        piece = {
            "package": "@acme/piece-bench", "version": "1.0.0", "folder": FOLDER, "kind": "trigger", "name": name,
            "account": "bench", "auth": {"bench": {"type": "OAUTH2"}},
            "handshake": {"strategy": strategy, "paramName": param} if param else None,
        }  # fmt: skip
        declaration = {
            "kind": "source", "name": name, "description": f"Tells of {name}.", "app": "bench",
            "configurable_props": [
                {"name": "bench", "type": "app", "app": "bench"}, PROPS.get(name, PROPS["hook"]),
            ],
            "annotations": {}, "has_reload": False, "dedupe": None, "hooks": ["activate", "deactivate"], "stash": None,
        }  # fmt: skip
        (folder / "1.0.0.json").write_text(json.dumps({"piece": piece, "declaration": declaration}), "utf-8")


class Played:
    """In the place of the executor: ``calls`` are those of triggers' code, ``asked`` those of the package's."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.broken = False
        self.gullible = False

    def call(self, call: Call) -> Reply:
        """As the code of the triggers would: a message is emitted as it is, a handshake is answered with its value."""
        self.calls.append(call)
        if call.method == "activate" and call.path.endswith("/new-message/1.0.0.json"):
            token = next(iter(call.accounts.values())).values["oauth_access_token"]
            listeners = [{"events": ["message"], "identifier": TEAMS[token]}] if token in TEAMS else []
            return Reply({"listeners": listeners, "schedule": None})
        if call.method == "handshake":
            return Reply(None, response=HttpAnswer(201, "shaken", {"x-hook-secret": "s"}), state={"shaken": 1})
        if call.method == "run":
            return Reply(None, events=(Emitted(call.event["body"], None, str(call.event["body"]["text"]), 1),))
        return Reply(None)

    def ask_package(self, call: Any) -> Reply:
        """As the piece's events would: signed with the secret itself, and with ``challenge`` for a handshake."""
        self.asked.append((call.method, call.fields))
        if self.broken:
            return Reply(None, error=ErrorInfo("runner", "Runner", "It is away."))
        event = call.fields["event"]
        if call.method == "verify":
            signature = event["headers"].get("x-signature")
            if signature is None:
                return Reply(None, error=ErrorInfo("exception", "TypeError", "There is no signature."))
            return Reply(self.gullible or signature == call.fields["secret"])
        body = event["body"]
        if "challenge" in event["query"]:
            return Reply(
                {"event": None, "identifier": None, "reply": {"headers": {}, "body": event["query"]["challenge"]}}
            )
        return Reply({"event": body["type"], "identifier": body["team"], "reply": None})


class PieceStage:
    """The service, its client and who plays the code."""

    def __init__(self, service: Service, scene: Scene) -> None:
        self.played = Played()
        self.service = replace(service, executor=self.played)  # type: ignore[arg-type]
        self.scene = scene
        self.client = oauth_apps.add(
            self.service,
            app="bench",
            client_id="c",
            client_secret="s",
            project_id=scene.project_id,
            events_secret=SECRET,
        )

    def connect(self, name: str) -> Account:
        values = {"oauth_access_token": name}
        return plant_account(self.service, self.scene, name, "bench", values, oauth_app_id=self.client.id)

    def deploy(self, name: str, key: str = "bench-new-message") -> DeployedTrigger:
        component = self.service.catalog.component(key)
        assert component is not None, key
        values = {"bench": {"authProvisionId": self.connect(name).id}}
        return deployments.deploy(self.service, Deployment(self.scene, name, component, values))

    def work(self) -> None:
        """Run what waits, as the worker does."""
        while (waiting := inbox.claim(self.service)) is not None:
            inbox.run_queued(self.service, waiting)


def request(
    body: Any, *, query: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None, at: int = 0
) -> InboundRequest:
    """A request as it comes."""
    sent = {"content-type": "application/json", **(headers or {})}
    raw = json.dumps(body).encode()
    return InboundRequest(
        "POST", "/", "http://x/", tuple((query or {}).items()), tuple(sent.items()), raw, "192.0.2.1", at
    )
