"""Workflows of a project's environment (contract "Workflows"): named URLs that triggers send their events to."""

from typing import Any

from flask import Response
from pydantic import Field

from webapp.kit.clock import SECOND
from webapp.service.api import project_webhook
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import Answer, Body, Data, Milliseconds, Page, Paged, Seconds, identifier
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.api.webhooks import DeliveryState
from webapp.service.domain.base import token_scopes
from webapp.service.domain.deliveries import endpoint_state, endpoints, stats, workflows
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.triggers import deployed_triggers

operations = Operations(
    Group("Workflows", "Named URLs of a project that triggers send their events to."),
    PathParameter("workflow_id", "The workflow's id (`p_…`).", "$WORKFLOW_ID"),
    read=(token_scopes.PROJECTS_READ,),
    write=(token_scopes.PROJECTS_WRITE,),
    connect=False,
    extension=True,
)
ALL, ONE = "P/workflows", "P/workflows/<workflow_id>"
MOST_TRIGGERS = 100


class NewWorkflow(Body):
    """The name and URL of a workflow."""

    name: str = Field(description="What it is called.")
    url: str = Field(description="Where the events go; `http` or `https`, with a host.")


class WorkflowChange(Body):
    """The changes of a workflow; omitted fields are unchanged."""

    name: str | None = Field(None, description="What it is called.")
    url: str | None = Field(None, description="Where the events go; another URL starts without a past.")


class NamedWorkflow(Answer):
    """A named URL that triggers send their events to. `signing_key` is there when it was just made."""

    id: str = identifier("p_2Vc9Lk")
    name: str = Field(examples=["Orders"])
    url: str = Field(examples=["https://app.example.com/orders"])
    signing_key_set: bool
    active: bool
    delivery_state: DeliveryState
    last_success_at: Milliseconds | None = Field(description="When something arrived there last.")
    triggers: int = Field(description="How many triggers send their events there.")
    created_at: Seconds
    updated_at: Seconds
    signing_key: str = Field("", description="What signs its deliveries (`whsec_…`).")


class WorkflowTrigger(Answer):
    """A trigger that sends its events to a workflow."""

    id: str = identifier("dc_6Gt1Nv")
    name: str = Field(examples=["New issue"])
    external_user_id: str = Field(examples=["user-123"])


@operations.get(ALL, answer=Page[NamedWorkflow], query=Paged, example=Example(query={"limit": "10"}))
def list_workflows(call: Call) -> Response:
    """The workflows, oldest first, with how they do and what uses them; never a key."""
    return answer_page(
        workflows.page(call.store, call.scene, call.query(Paged).window), lambda row: _to_json(call, row)
    )


@operations.post(
    ALL,
    answer=Data[NamedWorkflow],
    body=NewWorkflow,
    errors=(409,),
    example=Example(body={"name": "Orders", "url": "https://app.example.com/orders"}),
)
def create_workflow(call: Call) -> Response:
    """Register a URL, with the key that signs what goes there."""
    body = call.body(NewWorkflow)
    return _with_key(call, workflows.add(call.service, call.scene, name=body.name, url=body.url))


@operations.get(ONE, answer=Data[NamedWorkflow])
def get_workflow(call: Call) -> Response:
    """One workflow."""
    return answer({"data": _to_json(call, _load(call))})


@operations.get(f"{ONE}/signing_key", answer=Data[project_webhook.SigningKey], scopes=(token_scopes.PROJECTS_WRITE,))
def get_workflow_key(call: Call) -> Response:
    """The key that signs what goes to a workflow."""
    return answer({"data": {"signing_key": endpoints.key_of(call.service, _load(call))}})


@operations.patch(ONE, answer=Data[NamedWorkflow], body=WorkflowChange, example=Example(body={"name": "Sales"}))
def update_workflow(call: Call) -> Response:
    """Change the name or the URL; triggers that use it keep its id."""
    body = call.body(WorkflowChange)
    workflows.change(call.service, _load(call), name=body.name, url=body.url)
    return answer({"data": _to_json(call, _load(call))})


@operations.delete(ONE, example=Example({"workflow_id": "$WORKFLOW_TO_DELETE_ID"}))
def delete_workflow(call: Call) -> Response:
    """Remove a workflow from the project and from its triggers; what waits for it is not sent any more."""
    workflows.remove(call.service, _load(call))
    return no_content()


@operations.post(f"{ONE}/regenerate_signing_key", answer=Data[NamedWorkflow])
def regenerate_workflow_key(call: Call) -> Response:
    """Give a workflow another signing key."""
    workflow = _load(call)
    with call.store.write() as tx:
        endpoints.regenerate_key(tx, call.service, workflow)
    return _with_key(call, _load(call))


@operations.post(f"{ONE}/reset_delivery_state", answer=Data[NamedWorkflow])
def reset_workflow(call: Call) -> Response:
    """Enable a workflow that failed or was switched off, and send what waits for it."""
    return answer({"data": _to_json(call, endpoint_state.reset(call.service, _load(call)))})


@operations.get(f"{ONE}/triggers", answer=Data[list[WorkflowTrigger]])
def list_triggers_of_workflow(call: Call) -> Response:
    """The triggers that send their events there, of every user; at most 100 of them."""
    rows = deployed_triggers.first_of_workflow(call.store, call.scene, _load(call), MOST_TRIGGERS)
    return answer({"data": [{"id": row.id, "name": row.name, "external_user_id": row.external_id} for row in rows]})


def _load(call: Call) -> Endpoint:
    return workflows.get(call.store, call.scene, call.path["workflow_id"])


def _with_key(call: Call, workflow: Endpoint) -> Response:
    key = endpoints.key_of(call.service, workflow)
    return answer({"data": {**_to_json(call, workflow), "signing_key": key}})


def _to_json(call: Call, workflow: Endpoint) -> dict[str, Any]:
    return {
        "id": workflow.id,
        "name": workflow.name,
        "url": endpoints.url_of(call.service, workflow),
        "signing_key_set": True,
        **endpoint_state.to_json(workflow),
        "last_success_at": stats.last_success(call.store, workflow),
        "triggers": deployed_triggers.count_of_workflow(call.store, call.scene, workflow),
        "created_at": workflow.created_at // SECOND,
        "updated_at": workflow.updated_at // SECOND,
    }
