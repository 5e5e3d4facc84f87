"""The people who sign in, for administrators of the workspace: their roles, who may sign in, and new passwords.

Only a client of the whole workspace with the scope ``*`` may call these operations, since they give an owner's power.
"""

from typing import Any

from flask import Response
from pydantic import Field

from webapp.kit.clock import iso, iso_or_none
from webapp.people import users
from webapp.people.roles import Role
from webapp.people.users import User
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import Answer, Body, DateTime, Page, Paged
from webapp.service.api.base.operations import Example, Group, Operations, PathParameter
from webapp.service.domain.base import token_scopes
from webapp.service.domain.instance.people import logins

operations = Operations(
    Group("Logins", "The people who sign in to the dashboard."),
    PathParameter("user_id", "The person's id (`u_…`).", "$LOGIN_ID"),
    read=(token_scopes.ALL,),
    write=(token_scopes.ALL,),
    connect=False,
    extension=True,
    workspace=True,
)
ONE = "/v1/users/<login:user_id>"
OTHER = {"user_id": "$OTHER_LOGIN_ID"}


class LoginChange(Body):
    """The changes of a login; omitted fields are unchanged."""

    role: Role | None = Field(None, description="What the person may do.")
    disabled: bool | None = Field(
        None, description="Whether the person is kept out. Their sessions end; what they connected keeps working."
    )


class Login(Answer):
    """The login of a person. `disabled_at` is null while they may sign in."""

    id: str = Field(examples=["u_1Wq6Df"])
    email: str = Field(examples=["ada@example.com"])
    role: Role
    created_at: DateTime
    updated_at: DateTime
    disabled_at: DateTime | None
    seen_at: DateTime | None = Field(description="When a browser of theirs was last here, to the minute.")


class PasswordReset(Answer):
    """A link with which a person chooses another password, once. It is shown this once."""

    url: str = Field(examples=["https://connect.example.com/new-password?token=…"])
    expires_at: DateTime


@operations.get("/v1/users", answer=Page[Login], query=Paged, example=Example(query={"limit": "10"}))
def list_logins(call: Call) -> Response:
    """List all people with a login, oldest first."""
    return answer_page(users.page(call.store, call.query(Paged).window), _to_json)


@operations.get(ONE, answer=Login)
def get_login(call: Call) -> Response:
    """One login."""
    return answer(_to_json(users.get(call.store, call.path["user_id"])))


@operations.patch(ONE, answer=Login, body=LoginChange, example=Example(OTHER, {}, {"role": "member"}))
def update_login(call: Call) -> Response:
    """Change a person's role, or disable the login; 409 for the only owner who can sign in."""
    body = call.body(LoginChange)
    enabled = None if body.disabled is None else not body.disabled
    return answer(_to_json(logins(call.service).change(call.path["user_id"], role=body.role, enabled=enabled)))


@operations.delete(ONE, example=Example({"user_id": "$LOGIN_TO_DELETE_ID"}))
def delete_login(call: Call) -> Response:
    """Remove a login with the accounts and triggers of its person; 409 for the only owner who can sign in."""
    logins(call.service).remove(call.path["user_id"])
    return no_content()


@operations.delete(f"{ONE}/sessions", example=Example(OTHER))
def end_sessions_of_login(call: Call) -> Response:
    """Sign a person out of every browser."""
    logins(call.service).end_sessions(call.path["user_id"])
    return no_content()


@operations.delete(f"{ONE}/two_step", example=Example(OTHER))
def reset_two_step_of_login(call: Call) -> Response:
    """Switch two-step sign-in off for a person who lost their phone, and remove their passkeys."""
    logins(call.service).reset_two_step(call.path["user_id"])
    return no_content()


@operations.post(f"{ONE}/password_reset", answer=PasswordReset, example=Example(OTHER))
def create_password_reset(call: Call) -> Response:
    """Make a link, in place of any before it, with which the person chooses another password within 24 hours."""
    url, expires_at = logins(call.service).reset_link(call.path["user_id"])
    return answer({"url": url, "expires_at": iso(expires_at)})


def _to_json(user: User) -> dict[str, Any]:
    return {
        "id": user.id,
        "email": user.email,
        "role": user.role,
        "created_at": iso(user.created_at),
        "updated_at": iso(user.updated_at),
        "disabled_at": iso_or_none(user.disabled_at),
        "seen_at": iso_or_none(user.seen_at),
    }
