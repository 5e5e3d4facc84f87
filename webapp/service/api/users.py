"""The users of an environment (contract "Users"): the list, and removal of one with all that is theirs."""

from flask import Response
from pydantic import Field

from webapp.service.api.base.call import Call, answer_page, no_content
from webapp.service.api.base.models import Answer, DateTime, Page, Paged, SearchWords, identifier
from webapp.service.api.base.operations import EXTERNAL_USER_ID, Example, Group, Operations
from webapp.service.domain.base import token_scopes
from webapp.service.domain.instance import removal
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ListedUser

USERS = Group("Users", "Your own users, by the ids that you give them.")
operations = Operations(USERS, EXTERNAL_USER_ID, connect=False)


class UserList(Paged):
    """Which users: those whose id holds ``q``."""

    q: SearchWords = None


class ExternalUser(Answer):
    """One of the developer's end users."""

    id: str = identifier("exu_4Jr6Yh")
    external_id: str = Field(examples=["user-123"])
    created_at: DateTime
    updated_at: DateTime


@operations.get(
    "P/users",
    answer=Page[ExternalUser],
    scopes=(token_scopes.USERS_READ,),
    query=UserList,
    example=Example(query={"q": "user"}),
)
def list_users(call: Call) -> Response:
    """Users of the environment, oldest first."""
    query = call.query(UserList)
    return answer_page(external_users.page(call.store, call.scene, query.window, q=query.q), ListedUser.to_json)


@operations.delete(
    "P/users/<path:external_user_id>",
    scopes=(token_scopes.USERS_WRITE,),
    example=Example(path={"external_user_id": "user-to-delete"}),
)
def delete_user(call: Call) -> Response:
    """Remove a user with their tokens, triggers, accounts, runs and files."""
    external_id = external_users.checked(call.path["external_user_id"])
    removal.user(call.service, external_users.get(call.store, call.scene, external_id))
    return no_content()
