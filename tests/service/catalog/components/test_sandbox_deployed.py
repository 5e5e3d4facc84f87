"""The sandbox's triggers as people deploy them: through the whole service, against the sandbox itself."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.fakes.triggers import deploy, emitted, poll_due
from tests.sandbox.conftest import Served
from tests.service.catalog.components.test_sandbox import Action, action, served
from webapp.kit.clock import MINUTE, now
from webapp.sandbox.people import find_person
from webapp.sandbox.webhooks import Webhook
from webapp.service.domain.access import connect_tokens
from webapp.service.domain.accounts import connections, oauth_apps
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import deployments, inbound_requests, inbox
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.outbound.oauth import TokenResult
from webapp.settings import Settings

__all__ = ["action", "served"]  # fixtures


@pytest.fixture(scope="module")
def service(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over a folder of its own, with a runner that it closes itself."""
    port = str(urlsplit(served.url).port)
    settings = Settings.from_env({"PATCHBAY_SANDBOX_PORT": port}, data=tmp_path_factory.mktemp("deployed"))
    opened = open_service(settings, served.clock)
    yield opened
    close_service(opened)


@pytest.fixture(scope="module")
def scene(service: Service) -> Scene:
    return Scene(projects.create(service, name="Shop", support_email="help@shop.example").id, "development")


@pytest.fixture(scope="module")
def account(service: Service, served: Served, scene: Scene) -> Account:
    made = connect_tokens.create(service, scene, connect_tokens.TokenRequest("alice"), client_id=None)
    token, app = connect_tokens.verify(service, made["token"]), service.catalog.app("sandbox")
    client = oauth_apps.choose(service.store, scene.project_id, "sandbox")
    assert app is not None and client is not None
    granted = served.connect()
    result = TokenResult(granted["access_token"], granted["refresh_token"], 3600, None, "bearer", {})
    scopes = ("profile", "tasks:read", "tasks:write", "webhooks")
    return connections.connect_with_grant(
        service, token, app, client, result, requested=scopes, profile=None, fields={}, account_id=None
    )


def test_new_task_is_polled(service: Service, scene: Scene, served: Served, account: Account, action: Action) -> None:
    trigger = deploy(service, scene, "sandbox-new-task", given={"account": {"authProvisionId": account.id}})
    poll_due(service)
    before = emitted(service, trigger)  # as examples, which the tasks of other tests are
    task, _ = action("create-task").ret(project_id="prj_006", title="Ring")
    served.clock.advance(MINUTE)
    (outcome,) = poll_due(service)
    assert outcome.ok, outcome.error
    (event,) = emitted(service, trigger)[len(before) :]
    assert (json.loads(event["e"]), event["sum"]) == (task, "Ring")
    deployments.delete(service, trigger)


def test_task_updated_is_reported(
    service: Service, scene: Scene, served: Served, account: Account, action: Action
) -> None:
    given = {"account": {"authProvisionId": account.id}, "project_id": "prj_006"}
    trigger = deploy(service, scene, "sandbox-task-updated", given=given)
    (hook,) = _hooks(served)
    assert "/h/" in hook.url
    task, _ = action("create-task").ret(project_id="prj_006", title="Ring")
    body: dict[str, Any] = {"id": "evt_1", "event": "task.updated", "sent_at": "2030-01-31T08:00:00.000Z", "task": task}
    raw = json.dumps(body)
    for signature in ("sha256=forged", f"sha256={_signed(served, hook, raw)}"):
        _arrive(service, trigger, raw, signature)
    (event,) = emitted(service, trigger)
    assert (json.loads(event["e"]), event["sum"]) == (task, "Ring")
    deployments.delete(service, trigger)
    assert _hooks(served) == []


def _arrive(service: Service, trigger: DeployedTrigger, raw: str, signature: str) -> None:
    headers = (("Content-Type", "application/json"), ("X-Sandbox-Signature", signature))
    came = inbound_requests.InboundRequest(
        method="POST", path="/", url="http://localhost/h/k", query=(), headers=headers, body=raw.encode(),
        client_ip="127.0.0.1", at=now(),
    )  # fmt: skip
    assert inbound_requests.receive_request(service, trigger, came).status == 200
    waiting = inbox.claim(service)
    assert waiting is not None
    inbox.run_queued(service, waiting)


def _signed(served: Served, hook: Webhook, raw: str) -> str:
    return hmac.new(served.sandbox.webhooks.secret_of(hook).encode(), raw.encode(), hashlib.sha256).hexdigest()


def _hooks(served: Served) -> list[Webhook]:
    ada = find_person("per_ada")
    assert ada is not None
    return served.sandbox.webhooks.of(ada)
