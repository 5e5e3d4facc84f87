"""``GET /v1/users/me`` (contract "Current user"): the caller, and their workspace.

A user API key names its person. An OAuth client works for the workspace, so its answer describes the owner, or a
placeholder before anybody has signed up.
"""

from typing import Any
from urllib.parse import urlsplit

from flask import Response
from pydantic import Field

from webapp.errors import NotFound
from webapp.kit.crypto import stable_id
from webapp.people import roles, users
from webapp.people.users import User
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, Data
from webapp.service.api.base.operations import Operations
from webapp.service.api.users import USERS
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service

operations = Operations(USERS)


class Workspace(Answer):
    """The installation."""

    id: str = Field(examples=["o_2Zk9Fp"])
    name: str = Field(examples=["connect.example.com"])
    orgname: str
    email: str = Field(examples=["ada@example.com"])


class Me(Answer):
    """The person who calls, or for whom the client works."""

    id: str = Field(examples=["u_1Wq6Df"])
    username: str = Field(examples=["ada"])
    email: str = Field(examples=["ada@example.com"])
    role: str = Field(examples=["owner"])
    orgs: list[Workspace] = Field(examples=[[]])


@operations.get("/v1/users/me", answer=Data[Me], scopes=(token_scopes.ALL,), connect=False, user_key=True)
def get_current_user(call: Call) -> Response:
    """The person who calls, or for whom the client works."""
    person, host = _person(call), urlsplit(call.service.settings.public_url).hostname or ""
    email = person.email if person else f"support@{host}"
    data = {
        "id": person.id if person else _placeholder_id(call),
        "username": email.partition("@")[0],
        "email": email,
        "role": person.role if person else "owner",
        "orgs": [_workspace(call.service, host, email)],
    }
    return answer({"data": data})


def user_id(call: Call) -> str:
    """The user of a call: the person, or the owner for whom an OAuth client works."""
    if call.caller.person_id is not None:
        return call.caller.person_id
    owner = _owner(call)
    return owner.id if owner else _placeholder_id(call)


def _person(call: Call) -> User | None:
    if call.caller.person_id is None:
        return _owner(call)
    person = users.by_id(call.store, call.caller.person_id)
    if person is None:
        raise NotFound("This person is no longer there.")
    return person


def _owner(call: Call) -> User | None:
    return next((user for user in users.all_users(call.store) if roles.is_owner(user.role) and user.enabled), None)


def _placeholder_id(call: Call) -> str:
    return stable_id("u", call.caller.client_id or "")


def _workspace(service: Service, host: str, email: str) -> dict[str, Any]:
    """The installation is one workspace (contract "Workspace"), named after its host."""
    workspace_id = stable_id("o", service.keys.derive("workspace").hex())
    return {"id": workspace_id, "name": host, "orgname": host, "email": email}
