"""Asana's webhooks, written from https://developers.asana.com/docs/webhooks-guide: the secret comes with a request to
the address while the webhook is being made, and signs what comes there from then on.
"""

import hashlib
import hmac
import json
import secrets
from typing import Any

from tests.fakes.catalog_bench import Bench
from tests.fakes.declared.provider import Answer, DeclaredProvider, Heard
from tests.fakes.triggers import summaries
from webapp.service.components.calls import HttpAnswer
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.triggers import deployed_triggers, deployments, inbound_requests
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deployments import Deployment
from webapp.service.domain.triggers.inbound_requests import InboundRequest
from webapp.service.outbound.oauth import TokenResult


class Asana(DeclaredProvider):
    """Makes a webhook where its address answers with the secret; ``alice`` alone may see the task."""

    stage: "AsanaStage"

    def answer(self, heard: Heard) -> Answer:
        name = heard.headers.get("authorization", "").rpartition("token-")[2]
        path = heard.place.partition("/api/1.0")[2]
        if path == "/users/me":
            return Answer(200, {"data": {"gid": name, "email": f"{name}@x.example"}})
        if path.startswith("/tasks/"):
            seen = name == "alice"
            return Answer(200, {"data": {"gid": "t1", "name": "Milk"}}) if seen else Answer(403, {"errors": []})
        if (heard.method, path) == ("POST", "/webhooks"):
            return self._establish(json.loads(heard.body)["data"]["target"])
        assert heard.method == "DELETE"
        self.stage.hooks.pop(path.rpartition("/")[2])
        return Answer(200, {"data": {}})

    def _establish(self, target: str) -> Answer:
        secret, gid = secrets.token_hex(32), str(len(self.stage.hooks) + 1)
        answer = self.stage.post(target, b"{}", {"X-Hook-Secret": secret})
        if (answer.status, answer.headers.get("X-Hook-Secret")) != (200, secret):
            return Answer(
                400, {"errors": [{"message": "The remote server which is intended to receive the webhook failed."}]}
            )
        self.stage.hooks[gid] = (target, secret)
        return Answer(201, {"data": {"gid": gid, "active": True}})


class AsanaStage:
    """The service with accounts at Asana. ``hooks`` are its webhooks: address and secret by gid."""

    def __init__(self, bench: Bench) -> None:
        self.service, self.scene, self.app = bench.service, bench.scene, bench.app("asana")
        self.hooks: dict[str, tuple[str, str]] = {}
        asana = Asana(self.app, {}, {})
        asana.stage = self
        for front in bench.fronts:
            front.provider = asana
        self.client = oauth_apps.add(
            self.service, app="asana", client_id="c", client_secret="s", project_id=self.scene.project_id
        )

    def deploy(self, name: str) -> DeployedTrigger:
        made = connect_tokens.create(self.service, self.scene, connect_tokens.TokenRequest(name), client_id=None)
        account = connections.connect_with_grant(
            self.service, connect_tokens.verify(self.service, made["token"]), self.app, self.client,
            TokenResult(f"token-{name}", None, None, None, "", {}), requested=(), profile=None, fields={},
            account_id=None,
        )  # fmt: skip
        component = self.service.catalog.component("asana-new-task-instant")
        assert component is not None
        values = {"asana": {"authProvisionId": account.id}, "workspace": "w1", "project": "p1"}
        return deployments.deploy(self.service, Deployment(self.scene, name, component, values))

    def post(self, address: str, body: bytes, headers: dict[str, str]) -> HttpAnswer:
        """A request that comes to the address of a trigger."""
        trigger = inbound_requests.trigger_at(self.service, address.rpartition("/")[2])
        request = InboundRequest(
            "POST", "/", address, (), tuple(headers.items()), body, "192.0.2.1", self.service.clock()
        )
        return inbound_requests.receive_request(self.service, trigger, request)

    def tell(self, trigger: DeployedTrigger, events: list[Any], *, secret: str = "") -> int:
        """Tell ``events`` to the address of ``trigger``, signed by its own secret or another; the answer's status."""
        address = deployed_triggers.endpoint_url(self.service, trigger) or ""
        own = next(known for target, known in self.hooks.values() if target == address)
        body = json.dumps({"events": events}).encode()
        signature = hmac.new((secret or own).encode(), body, hashlib.sha256).hexdigest()
        return self.post(address, body, {"X-Hook-Signature": signature}).status

    def texts(self, trigger: DeployedTrigger) -> list[str]:
        return list(summaries(self.service, trigger))
