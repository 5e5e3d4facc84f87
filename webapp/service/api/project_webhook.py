"""The webhook of a project's environment (contract "Project webhook").

It gets the events of triggers that have no webhook of their own. Its signing key is the environment's: Connect
notifications are signed with it too. The key is shown when the webhook is created, when it is regenerated, and by an
extension to callers who may change it.
"""

from typing import Any

from flask import Response
from pydantic import Field

from webapp.kit.clock import SECOND
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import (
    Answer,
    Body,
    Data,
    Extensions,
    Query,
    Seconds,
)
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.api.webhooks import DeliveryState
from webapp.service.domain.base import token_scopes
from webapp.service.domain.deliveries import endpoint_state, endpoints, signing_keys
from webapp.service.domain.deliveries.endpoints import Endpoint

operations = Operations(
    Group("Project webhook", "Where the events of triggers go that have no webhook of their own."),
    read=(token_scopes.PROJECTS_READ,),
    write=(token_scopes.PROJECTS_WRITE,),
    connect=False,
)


class NewWebhook(Body):
    """The URL of the webhook."""

    url: str = Field(description="Where it leads; `http` or `https`, with a host.")


class Shown(Query):
    """``extensions`` adds how the webhook does."""

    extensions: Extensions = False


class SigningKey(Answer):
    """The key that signs what goes to an environment's webhooks, or to a workflow."""

    signing_key: str = Field(examples=["whsec_…"])


class ProjectWebhook(Answer):
    """The webhook of a project's environment. `signing_key` is shown when it is made or regenerated."""

    id: str = ""
    url: str = ""
    signing_key_set: bool
    created_at: Seconds = 0
    updated_at: Seconds = 0
    signing_key: str = Field("", description="Shown once.")


class ProjectWebhookState(ProjectWebhook):
    """The same; the last two are there when `extensions` were asked for."""

    active: bool = True
    delivery_state: DeliveryState | None = None


@operations.get("P/webhook", answer=Data[ProjectWebhookState | None], query=Shown)
def get_project_webhook(call: Call) -> Response:
    """The webhook, or null."""
    webhook, extensions = endpoints.of_project(call.store, call.scene), call.query(Shown).extensions
    if webhook is None:
        return answer({"data": None})
    return answer({"data": _to_json(call, webhook) | (endpoint_state.to_json(webhook) if extensions else {})})


@operations.put(
    "P/webhook",
    answer=Data[ProjectWebhook],
    body=NewWebhook,
    example=Example(body={"url": "https://app.example.com/hooks"}),
)
def set_project_webhook(call: Call) -> Response:
    """Create the webhook, or change its URL; one that was switched off is enabled."""
    url = call.body(NewWebhook).url
    not_found = endpoints.check_urls(call.service, "url", url).get(url)
    with call.store.write() as tx:
        before = endpoints.of_project(tx, call.scene)
        if before is None:
            endpoints.add(tx, call.service, "project", url, scene=call.scene, not_found=not_found)
        elif before.url_hash != endpoints.hash_of(call.service, url) or not before.active:
            endpoints.move(tx, call.service, before, url, not_found)
            endpoint_state.resume(tx, before.id, call.service.clock())
    call.service.wake()
    webhook = endpoints.of_project(call.store, call.scene)
    data = _to_json(call, webhook) if webhook else {}
    if before is None:
        data["signing_key"] = signing_keys.key_of(call.service, call.scene)
    return answer({"data": data})


@operations.delete("P/webhook")
def delete_project_webhook(call: Call) -> Response:
    """Remove the webhook; the key stays, because notifications are signed with it."""
    with call.store.write() as tx:
        webhook = endpoints.of_project(tx, call.scene)
        if webhook is not None:
            endpoint_state.remove(tx, webhook, call.service.clock())
    return no_content()


@operations.get("P/webhook/signing_key", answer=Data[SigningKey], scopes=(token_scopes.PROJECTS_WRITE,), extension=True)
def get_project_key(call: Call) -> Response:
    """The environment's signing key: the project webhook, general webhooks and notifications are signed with it."""
    return answer({"data": {"signing_key": signing_keys.key_of(call.service, call.scene)}})


@operations.post("P/webhook/regenerate_signing_key", answer=Data[ProjectWebhook])
def regenerate_project_key(call: Call) -> Response:
    """Give the environment a new signing key. It needs no webhook, since notifications use it as well."""
    with call.store.write() as tx:
        key = signing_keys.regenerate(tx, call.service, call.scene)
        webhook = endpoints.of_project(tx, call.scene)
    return answer({"data": {**(_to_json(call, webhook) if webhook else {"signing_key_set": True}), "signing_key": key}})


def _to_json(call: Call, webhook: Endpoint) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "url": endpoints.url_of(call.service, webhook),
        "signing_key_set": True,
        "created_at": webhook.created_at // SECOND,
        "updated_at": webhook.updated_at // SECOND,
    }
