"""``POST /v1/webhooks`` (contract "General webhooks"): a webhook of the workspace, or of the client's own project.

It is told of connections that were made or failed, of accounts that died and of triggers that were switched off. Its
parameters stand in the query string. Notifications name Connect tokens of every user, so a person with the role member,
who is one of those users, may not make one.
"""

from typing import Annotated, Any

from flask import Response
from pydantic import Field

from webapp.errors import Forbidden
from webapp.kit.clock import SECOND
from webapp.people import users
from webapp.service.api.access import me, models
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Data, Query
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.base import scopes
from webapp.service.domain.deliveries import endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint

operations = Operations(
    Group("General webhooks", "Webhooks of the whole workspace: for connections, and for what stopped by itself.")
)


class NewWebhook(Query):
    """What it is called and where it leads; all three are required."""

    url: str = Field(description="Where it leads; `http` or `https`, with a host.")
    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="What it is called.")
    description: Annotated[str, Field(max_length=2_000)] = Field(description="What it is for.")


@operations.post(
    "/v1/webhooks",
    answer=Data[models.GeneralWebhook],
    scopes=(scopes.ALL,),
    connect=False,
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
    """Raise :class:`Forbidden` for the API key of a person who may not see what concerns other users."""
    person = users.by_id(call.store, call.caller.person_id) if call.caller.person_id is not None else None
    if person is not None and person.role == "member":
        raise Forbidden("Webhooks of the workspace hear of every user, so only an owner or developer may make one.")
