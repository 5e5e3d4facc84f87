"""The workspace's OAuth clients, for whoever runs it: made, given another secret, and deleted with their tokens.

Only a client of the whole workspace may ask, with the scope ``*``: it could give another client whatever it has.
"""

from typing import Annotated, Any

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.kit.clock import iso
from webapp.service.api.access import models
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import Body, Page, Paged
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.access import clients
from webapp.service.domain.access.clients import Client
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import projects

operations = Operations(
    Group("OAuth clients of the workspace", "What your servers call with. A secret is shown once."),
    PathParameter("client_id", "The client's id.", "$OTHER_CLIENT_ID"),
    read=(scopes.ALL,),
    write=(scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)
ALL, ONE = "/v1/oauth/clients", "/v1/oauth/clients/<client_id>"


class NewClient(Body):
    """What a client is called and may do."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="What it is called in lists.")
    scope: str = Field(scopes.ALL, description="What it may do: scopes, separated by spaces.")
    project_id: str | None = Field(None, description="The one project that it sees; all of them unless given.")


@operations.get(ALL, answer=Page[models.OAuthClient], query=Paged, example=Example(query={"limit": "10"}))
def list_oauth_clients(call: Call) -> Response:
    """Every client, oldest first; never a secret."""
    return answer_page(clients.page(call.store, call.query(Paged).window), _to_json)


@operations.post(
    ALL,
    answer=models.OAuthClient,
    body=NewClient,
    example=Example(body={"name": "Server", "scope": "connect:*"}),
)
def create_oauth_client(call: Call) -> Response:
    """Make a client."""
    body = call.body(NewClient)
    if body.project_id is not None:
        projects.get(call.store, body.project_id)
    try:
        client, secret = clients.create(
            call.service, name=body.name, scope=body.scope, project_id=body.project_id, origin="person"
        )
    except scopes.UnknownScope as error:
        raise Invalid.of("scope", str(error)) from error
    return answer({**_to_json(client), "client_secret": secret})


@operations.post(f"{ONE}/rotate", answer=models.OAuthClient)
def rotate_oauth_client(call: Call) -> Response:
    """Give a client another secret; the one before and every access token made with it end at once."""
    client, secret = clients.rotate(call.service, call.path["client_id"])
    return answer({**_to_json(client), "client_secret": secret})


@operations.delete(ONE, example=Example({"client_id": "$CLIENT_TO_DELETE_ID"}))
def delete_oauth_client(call: Call) -> Response:
    """Delete a client; its access tokens and the Connect tokens that it asked for end at once."""
    clients.delete(call.service, call.path["client_id"])
    return no_content()


def _to_json(client: Client) -> dict[str, Any]:
    return {
        "id": client.id,
        "name": client.name,
        "scope": client.scope,
        "project_id": client.project_id,
        "created_at": iso(client.created_at),
        "rotated_at": iso(client.rotated_at),
    }
