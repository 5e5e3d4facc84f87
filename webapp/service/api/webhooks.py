"""The targets of a deployed trigger's events (contract "Trigger webhooks"): webhooks, with keys and state, and
workflows.

Only OAuth clients get signing keys.
"""

from typing import Any, Literal

from flask import Response
from pydantic import Field

from webapp.kit.clock import SECOND
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, Body, Data, Extensions, Seconds
from webapp.service.api.base.operations import OWNER, Example, Operations, PathParameter
from webapp.service.api.deployed_triggers import DEPLOYED_TRIGGERS, PATH, READ, TRIGGER_ID, WRITE, Owned, load
from webapp.service.domain.deliveries import endpoint_state, endpoints, trigger_webhooks
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

operations = Operations(
    DEPLOYED_TRIGGERS,
    TRIGGER_ID,
    PathParameter("webhook_id", "The webhook's id (`wh_…`).", "$WEBHOOK_ID"),
    read=READ,
    write=WRITE,
)


class WorkflowList(Owned):
    """Whose trigger; ``extensions`` adds the workflows' names and how they do."""

    extensions: Extensions = False


class WebhookUrls(Body):
    """The whole list."""

    webhook_urls: list[str] = Field(description="Where its events go: the whole list.")


class WorkflowIds(Body):
    """The whole list of workflow ids."""

    workflow_ids: list[str] = Field(description="The workflows that its events go to: the whole list.")


class DeliveryState(Answer):
    """The state of deliveries to an address."""

    state: Literal["happy", "penalty", "deactivated"]
    since: Seconds
    last_error: str | None = Field(examples=[None])
    consecutive_failures: int
    sheds: int


class Webhook(Answer):
    """A target of a trigger's events. Only OAuth clients get the `signing_key`."""

    id: str = Field(examples=["wh_2Sd7Kj"])
    url: str = Field(examples=["https://app.example.com/events"])
    signing_key_set: bool
    signing_key: str = ""
    active: bool
    delivery_state: DeliveryState


class WebhookDetails(Webhook):
    """A trigger's webhook by itself."""

    created_at: Seconds
    updated_at: Seconds


class Webhooks(Answer):
    """All webhooks of a trigger."""

    webhook_urls: list[str] = Field(examples=[["https://app.example.com/events"]])
    webhooks: list[Webhook]


class Workflow(Answer):
    """A workflow that a trigger's events go to."""

    id: str = Field(examples=["id_1Ab2Cd"])
    name: str | None = Field(examples=["GitHub"])
    active: bool
    delivery_state: DeliveryState


class Pipelines(Answer):
    """The workflows that a trigger's events go to; `workflows` is there when `extensions` were asked for."""

    workflow_ids: list[str] = Field(examples=[["p_2Vc9Lk"]])
    workflows: list[Workflow] = Field(default_factory=list)


@operations.get(f"{PATH}/webhooks", answer=Webhooks, query=Owned, example=Example(query=OWNER))
def list_webhooks(call: Call) -> Response:
    """The webhooks of a trigger."""
    return _answer_list(call, load(call, call.query(Owned)))


@operations.put(
    f"{PATH}/webhooks",
    answer=Webhooks,
    query=Owned,
    body=WebhookUrls,
    example=Example(query=OWNER, body={"webhook_urls": ["https://app.example.com/events"]}),
)
def set_webhooks(call: Call) -> Response:
    """Set the webhooks of a trigger; a URL that stays keeps its id and key."""
    trigger = load(call, call.query(Owned))
    trigger_webhooks.change_urls(call.service, trigger, call.body(WebhookUrls).webhook_urls)
    return _answer_list(call, trigger)


@operations.get(
    f"{PATH}/webhooks/<webhook_id>",
    answer=Data[WebhookDetails],
    query=Owned,
    example=Example(query=OWNER),
)
def get_webhook(call: Call) -> Response:
    """One webhook."""
    return _answer(call, _webhook(call))


@operations.post(
    f"{PATH}/webhooks/<webhook_id>/regenerate_signing_key",
    answer=Data[WebhookDetails],
    query=Owned,
    example=Example(query=OWNER),
)
def regenerate_signing_key(call: Call) -> Response:
    """Give a webhook a new signing key."""
    webhook = _webhook(call)
    with call.store.write() as tx:
        endpoints.regenerate_key(tx, call.service, webhook)
    return _answer(call, _webhook(call))


@operations.post(
    f"{PATH}/webhooks/<webhook_id>/reset_delivery_state",
    answer=Data[WebhookDetails],
    query=Owned,
    example=Example(query=OWNER),
)
def reset_delivery_state(call: Call) -> Response:
    """Enable a webhook that failed."""
    return _answer(call, endpoint_state.reset(call.service, _webhook(call)))


@operations.get(f"{PATH}/pipelines", answer=Pipelines, query=WorkflowList, example=Example(query=OWNER))
def list_pipelines(call: Call) -> Response:
    """The workflows of a trigger."""
    query = call.query(WorkflowList)
    trigger = load(call, query)
    rows = trigger_webhooks.workflows_of(call.store, trigger.id)
    data: dict[str, Any] = {"workflow_ids": [workflow.id for workflow in rows]}
    if query.extensions:
        data["workflows"] = [workflow_to_json(workflow) for workflow in rows]
    return answer(data)


@operations.put(
    f"{PATH}/pipelines",
    answer=Pipelines,
    query=Owned,
    body=WorkflowIds,
    example=Example(query=OWNER, body={"workflow_ids": []}),
)
def set_pipelines(call: Call) -> Response:
    """Set the workflows of a trigger."""
    trigger = load(call, call.query(Owned))
    ids = call.body(WorkflowIds).workflow_ids
    with call.store.write() as tx:
        trigger_webhooks.set_workflows(tx, trigger, ids)
    workflows = trigger_webhooks.workflows_of(call.store, trigger.id)
    return answer({"workflow_ids": [workflow.id for workflow in workflows]})


def _webhook(call: Call) -> Endpoint:
    trigger = load(call, call.query(Owned))
    return trigger_webhooks.get(call.store, trigger.id, call.path["webhook_id"])


def _answer(call: Call, webhook: Endpoint) -> Response:
    """A webhook by itself, with its times in epoch seconds, as clients expect it there."""
    times = {"created_at": webhook.created_at // SECOND, "updated_at": webhook.updated_at // SECOND}
    return answer({"data": to_json(call, webhook) | times})


def _answer_list(call: Call, trigger: DeployedTrigger) -> Response:
    rows = trigger_webhooks.of_trigger(call.store, trigger.id)
    entries = [to_json(call, webhook) for webhook in rows]
    return answer({"webhook_urls": [entry["url"] for entry in entries], "webhooks": entries})


def to_json(call: Call, endpoint: Endpoint) -> dict[str, Any]:
    """A webhook in a list (contract "Trigger webhooks")."""
    url = endpoints.url_of(call.service, endpoint)
    data: dict[str, Any] = {"id": endpoint.id, "url": url, "signing_key_set": True}
    if call.caller.connect is None:
        data["signing_key"] = endpoints.key_of(call.service, endpoint)
    return data | endpoint_state.to_json(endpoint)


def workflow_to_json(endpoint: Endpoint) -> dict[str, Any]:
    """A workflow for users whose events go there: its name and state, without its URL."""
    return {"id": endpoint.id, "name": endpoint.name, **endpoint_state.to_json(endpoint)}
