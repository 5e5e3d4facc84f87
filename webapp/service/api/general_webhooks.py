"""``/v1/webhooks`` (contract "General webhooks"): webhooks of the workspace, or of the client's own project.

They get notifications of connections that succeeded or failed, of accounts that became dead and of triggers that were
switched off. The parameters of a new one are in the query string. Notifications name Connect tokens of all users, so a
person with the role member, who is one of those users, has no access. A client of one project sees only that project's.
"""

from typing import Annotated, Any, Literal

from flask import Response
from pydantic import Field

from webapp.errors import Forbidden
from webapp.kit.clock import SECOND
from webapp.people import roles, users
from webapp.service.api import me
from webapp.service.api.base.call import Call, answer, no_content
from webapp.service.api.base.models import Answer, Data, Milliseconds, ProjectId, Query, Seconds
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.api.webhooks import DeliveryState
from webapp.service.domain.accounts import notifications
from webapp.service.domain.base import token_scopes
from webapp.service.domain.deliveries import endpoint_state, endpoints, stats
from webapp.service.domain.deliveries.endpoints import Endpoint

operations = Operations(
    Group("General webhooks", "Webhooks of the whole workspace: for connections, and for what stopped by itself."),
    PathParameter("general_webhook_id", "The webhook's id (`wh_…`).", "$GENERAL_WEBHOOK_ID"),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
)
ALL, ONE = "/v1/webhooks", "/v1/webhooks/<general_webhook_id>"


class NewWebhook(Query):
    """The name and URL of a webhook; all three parameters are required."""

    url: str = Field(description="Where it leads; `http` or `https`, with a host.")
    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="What it is called.")
    description: Annotated[str, Field(max_length=2_000)] = Field(description="What it is for.")


class Tested(Query):
    """In which project and environment the test happens: its key signs it."""

    project_id: ProjectId | None = Field(
        None, description="The project; unless given, the webhook's own, else the one that the installation works in."
    )
    environment: Literal["development", "production"] = Field("development", description="The environment.")


class GeneralWebhook(Answer):
    """A webhook of the workspace."""

    id: str = Field(examples=["wh_2Sd7Kj"])
    user_id: str = Field(examples=["u_1Wq6Df"])
    name: str | None = Field(examples=["Everything"])
    description: str | None = Field(examples=[""])
    url: str = Field(examples=["https://app.example.com/events"])
    active: bool
    created_at: Seconds
    updated_at: Seconds


class GeneralWebhookState(GeneralWebhook):
    """A webhook of the workspace and its state; `project_id` is null if it gets notifications of all projects."""

    project_id: str | None = Field(examples=["proj_8Fw3ZsKd"])
    delivery_state: DeliveryState
    last_success_at: Milliseconds | None = Field(description="When something arrived there last.")
    median_ms: int | None = Field(description="How long an answer usually takes, of the newest that arrived.")
    next_attempt_at: Milliseconds | None = Field(description="When what waits is tried next.")


@operations.get(ALL, answer=Data[list[GeneralWebhookState]], user_key=True, extension=True)
def list_general_webhooks(call: Call) -> Response:
    """List all general webhooks with their states, oldest first."""
    _refuse_members(call)
    rows = endpoints.general_webhooks(call.store, call.caller.project_id)
    return answer({"data": [_state_to_json(call, webhook) for webhook in rows]})


@operations.post(
    ALL,
    answer=Data[GeneralWebhook],
    user_key=True,
    query=NewWebhook,
    example=Example(
        query={"url": "https://app.example.com/all", "name": "Everything", "description": "What goes wrong"}
    ),
)
def create_webhook(call: Call) -> Response:
    """Make the webhook."""
    _refuse_members(call)
    query = call.query(NewWebhook)
    not_found = endpoints.check_urls(call.service, "url", query.url).get(query.url)
    with call.store.write() as tx:
        webhook = endpoints.add(
            tx,
            call.service,
            "general",
            query.url,
            scene=None,
            project_id=call.caller.project_id,
            user_id=me.user_id(call),
            name=query.name,
            description=query.description,
            not_found=not_found,
        )
    return answer({"data": _to_json(call, webhook)})


@operations.delete(
    ONE, user_key=True, extension=True, example=Example({"general_webhook_id": "$GENERAL_WEBHOOK_TO_DELETE_ID"})
)
def delete_general_webhook(call: Call) -> Response:
    """Remove a general webhook; what waits for it is not sent any more."""
    webhook = _load(call)
    with call.store.write() as tx:
        endpoint_state.remove(tx, webhook, call.service.clock())
    return no_content()


@operations.post(f"{ONE}/reset_delivery_state", answer=Data[GeneralWebhookState], user_key=True, extension=True)
def reset_general_webhook(call: Call) -> Response:
    """Enable a general webhook that failed or was switched off, and send what waits for it."""
    webhook = endpoint_state.reset(call.service, _load(call))
    return answer({"data": _state_to_json(call, webhook)})


@operations.post(f"{ONE}/test_event", query=Tested, user_key=True, extension=True)
def test_general_webhook(call: Call) -> Response:
    """Send a general webhook a notification of the kind `TEST`."""
    webhook, query = _load(call), call.query(Tested)
    scene = endpoints.scene_of_general_test(call.service, webhook, query.project_id, query.environment)
    notifications.test(call.service, webhook, scene)
    return no_content()


def _load(call: Call) -> Endpoint:
    """The webhook in the path, as its owner has it."""
    _refuse_members(call)
    return endpoints.get_general(call.store, call.path["general_webhook_id"], call.caller.project_id)


def _state_to_json(call: Call, webhook: Endpoint) -> dict[str, Any]:
    return {
        **_to_json(call, webhook),
        "project_id": webhook.project_id,
        **endpoint_state.to_json(webhook),
        **stats.of_endpoint(call.store, webhook),
    }


def _to_json(call: Call, webhook: Endpoint) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "user_id": webhook.user_id,
        "name": webhook.name,
        "description": webhook.description,
        "url": endpoints.url_of(call.service, webhook),
        "active": webhook.active,
        "created_at": webhook.created_at // SECOND,
        "updated_at": webhook.updated_at // SECOND,
    }


def _refuse_members(call: Call) -> None:
    """Raise :class:`Forbidden` for the API key of a person who may not see data of other users."""
    person = users.by_id(call.store, call.caller.person_id) if call.caller.person_id is not None else None
    if person is not None and not roles.may_manage_webhooks(person.role):
        raise Forbidden("Webhooks of the workspace get data of all users, so only owners and developers manage them.")
