"""Invitations to sign in, for administrators of the workspace. Their links are shown once, to hand over.

Only a client of the whole workspace with the scope ``*`` may call these operations, since they give an owner's power.
"""

from typing import Any

from flask import Response
from pydantic import Field

from webapp.kit.clock import iso
from webapp.people import invitations
from webapp.people.roles import DEFAULT, Role
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import Answer, Body, DateTime, Page, Paged
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.base import token_scopes

operations = Operations(
    Group("Invitations", "Links with which people make logins of their own."),
    PathParameter("invitation_id", "The invitation's id (`inv_…`).", "$INVITATION_ID"),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)
ALL, ONE = "/v1/invitations", "/v1/invitations/<invitation_id>"


class NewInvitation(Body):
    """Who is invited, and as what."""

    email: str = Field(description="The person's e-mail address, by which they will sign in.")
    role: Role = Field(DEFAULT, description="What the person may do.")


class Invitation(Answer):
    """An invitation that waits for an answer. `active` is whether its link still works."""

    id: str = Field(examples=["inv_5Pq2Lx"])
    email: str = Field(examples=["lena@example.com"])
    role: Role
    invited_by: str | None = Field(description="The person who invited; null for a client or a command.")
    created_at: DateTime
    expires_at: DateTime
    active: bool
    url: str = Field("", description="The link, shown once, when it is made.")


@operations.get(ALL, answer=Page[Invitation], query=Paged, example=Example(query={"limit": "10"}))
def list_invitations(call: Call) -> Response:
    """Invitations that wait for an answer, oldest first; never a link."""
    return answer_page(invitations.page(call.store, call.query(Paged).window), lambda row: _to_json(call, row))


@operations.post(
    ALL,
    answer=Invitation,
    body=NewInvitation,
    errors=(409,),
    example=Example(body={"email": "lena@example.com", "role": "developer"}),
)
def create_invitation(call: Call) -> Response:
    """Invite a person by a link that works once, within 7 days, and replaces earlier ones; 409 for a person with a
    login.
    """
    body = call.body(NewInvitation)
    return _with_link(call, *invitations.invite(call.store, call.service.clock, email=body.email, role=body.role))


@operations.post(f"{ONE}/renew", answer=Invitation)
def renew_invitation(call: Call) -> Response:
    """Invite the same address again; the link before ends at once."""
    return _with_link(call, *invitations.renew(call.store, call.service.clock, call.path["invitation_id"]))


@operations.delete(ONE, example=Example({"invitation_id": "$INVITATION_TO_DELETE_ID"}))
def delete_invitation(call: Call) -> Response:
    """Withdraw an invitation; its link ends at once."""
    with call.store.write() as tx:
        invitations.withdraw(tx, call.service.clock(), call.path["invitation_id"])
    return no_content()


def _with_link(call: Call, invitation: invitations.Invitation, token: str) -> Response:
    url = invitations.link(call.service.settings.public_url, token)
    return answer({**_to_json(call, invitation), "url": url})


def _to_json(call: Call, invitation: invitations.Invitation) -> dict[str, Any]:
    return {
        "id": invitation.id,
        "email": invitation.email,
        "role": invitation.role,
        "invited_by": invitation.invited_by,
        "created_at": iso(invitation.created_at),
        "expires_at": iso(invitation.expires_at),
        "active": invitations.is_valid(call.store, call.service.clock(), invitation),
    }
