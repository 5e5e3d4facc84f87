"""The workspace's OAuth clients, for administrators: creation, rotation of secrets, and deletion with their tokens.

A new secret may be valid together with the old one for a while, so that a server can change over without a pause.

Only a client of the whole workspace with the scope ``*`` may call these operations, since they give access to all
scopes.
"""

from functools import partial
from typing import Annotated, Any

import orjson
from flask import Response
from pydantic import BeforeValidator, Field, WithJsonSchema

from webapp.errors import Invalid
from webapp.kit.clock import iso, iso_or_none
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import Answer, Body, DateTime, Page, Paged, Query
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects import projects

operations = Operations(
    Group("OAuth clients of the workspace", "What your servers call with. A secret is shown once."),
    PathParameter("client_id", "The client's id.", "$OTHER_CLIENT_ID"),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)
MAX_OVERLAP_S = oauth_clients.MAX_OVERLAP_S
EXAMPLE_KEY = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}  # of RFC 8037
PublicKey = str | dict[str, Any]
ALL, ONE = "/v1/oauth/clients", "/v1/oauth/clients/<client_id>"


class NewClient(Body):
    """The name and scopes of a client."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="What it is called in lists.")
    scope: str = Field(token_scopes.ALL, description="What it may do: scopes, separated by spaces.")
    project_id: str | None = Field(None, description="The one project that it sees; all of them unless given.")
    public_key: PublicKey | None = Field(
        None, description="Its public key, as PEM or a JWK. It then has no secret, until it is rotated."
    )


class NewKey(Body):
    """A public key in place of any before it."""

    public_key: PublicKey = Field(description="The public key, as PEM or a JWK.")


def _overlap(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and int(text) <= MAX_OVERLAP_S):
        raise ValueError(f"Use a whole number of seconds from 0 to {MAX_OVERLAP_S} (30 days).")
    return int(text)


Overlap = Annotated[
    int,
    BeforeValidator(_overlap),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_OVERLAP_S, "default": 0}),
]


class Rotation(Query):
    """How long both secrets are valid."""

    overlap_seconds: Overlap = Field(0, description="How long the secret before works beside the new one, in seconds.")


class OAuthClient(Answer):
    """An OAuth client of the workspace; `project_id` is null when it sees every project."""

    id: str = Field(examples=["oc_4Tf7Bn"])
    name: str = Field(examples=["Server"])
    scope: str = Field(examples=["*"])
    project_id: str | None = Field(examples=["proj_8Fw3ZsKd"])
    created_at: DateTime
    rotated_at: DateTime
    old_secret_ends_at: DateTime | None = Field(
        description="Until when the secret before this one works as well; null when one secret works."
    )
    last_used_at: DateTime | None = Field(description="When it called last, to the minute; null before its first call.")
    key_thumbprint: str | None = Field(description="Names its public key (RFC 7638); null without one.")
    client_secret: str = Field("", description="Shown once, when it is made or rotated.")


@operations.get(ALL, answer=Page[OAuthClient], query=Paged, example=Example(query={"limit": "10"}))
def list_oauth_clients(call: Call) -> Response:
    """Every client, oldest first; never a secret."""
    return answer_page(oauth_clients.page(call.store, call.query(Paged).window), partial(_to_json, call))


@operations.post(
    ALL,
    answer=OAuthClient,
    body=NewClient,
    example=Example(body={"name": "Server", "scope": "connect:*"}),
)
def create_oauth_client(call: Call) -> Response:
    """Make a client."""
    body = call.body(NewClient)
    if body.project_id is not None:
        projects.get(call.store, body.project_id)
    try:
        client, secret = oauth_clients.create(
            call.service,
            name=body.name,
            scope=body.scope,
            project_id=body.project_id,
            origin="person",
            public_key=_read(body.public_key) if body.public_key else "",
        )
    except token_scopes.UnknownScope as error:
        raise Invalid.of("scope", str(error)) from error
    return answer({**_to_json(call, client), **({"client_secret": secret} if secret else {})})


@operations.put(
    f"{ONE}/public_key",
    answer=OAuthClient,
    body=NewKey,
    example=Example(body={"public_key": EXAMPLE_KEY}),
)
def set_key_of_oauth_client(call: Call) -> Response:
    """Give a client a public key, in addition to any secret; the access tokens of the previous key end at once."""
    client_id, public_key = call.path["client_id"], _read(call.body(NewKey).public_key)
    return answer(_to_json(call, oauth_clients.set_key(call.service, client_id, public_key)))


@operations.delete(f"{ONE}/public_key", errors=(409,))
def remove_key_of_oauth_client(call: Call) -> Response:
    """Take a client's public key away, with its access tokens; 409 where no secret would be left."""
    oauth_clients.remove_key(call.service, call.path["client_id"])
    return no_content()


@operations.post(
    f"{ONE}/rotate", answer=OAuthClient, query=Rotation, example=Example(query={"overlap_seconds": "3600"})
)
def rotate_oauth_client(call: Call) -> Response:
    """Give a client another secret; the one before and its access tokens end after the overlap, or at once."""
    overlap_s = call.query(Rotation).overlap_seconds
    client, secret = oauth_clients.rotate(call.service, call.path["client_id"], overlap_s)
    return answer({**_to_json(call, client), "client_secret": secret})


@operations.delete(f"{ONE}/old_secret")
def end_old_secret_of_oauth_client(call: Call) -> Response:
    """End the overlap: the secret before the present one and its access tokens end at once, if they still work."""
    oauth_clients.end_old_secret(call.service, call.path["client_id"])
    return no_content()


@operations.delete(ONE, example=Example({"client_id": "$CLIENT_TO_DELETE_ID"}))
def delete_oauth_client(call: Call) -> Response:
    """Delete a client; its access tokens and the Connect tokens that it asked for end at once."""
    oauth_clients.delete(call.service, call.path["client_id"])
    return no_content()


def _read(public_key: PublicKey) -> str:
    text = public_key if isinstance(public_key, str) else orjson.dumps(public_key).decode()
    return oauth_clients.read_key(text)


def _to_json(call: Call, client: oauth_clients.OAuthClient) -> dict[str, Any]:
    overlapping = client.old_secret_works(call.service.clock())
    return {
        "id": client.id,
        "name": client.name,
        "scope": client.scope,
        "project_id": client.project_id,
        "created_at": iso(client.created_at),
        "rotated_at": iso(client.rotated_at),
        "old_secret_ends_at": iso_or_none(client.old_secret_ends_at if overlapping else None),
        "key_thumbprint": oauth_clients.thumbprint(client),
        "last_used_at": iso_or_none(client.last_used_at),
    }
