"""External users: the list of a scene, and removing one with everything that is theirs."""

from flask import Response

from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Paged
from webapp.service.domain.base import scopes
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ListedUser


class UserList(Paged):
    """Which users: those whose id holds ``q``."""

    q: str | None = None


def index(call: Call) -> Response:
    """Users of the environment, oldest first."""
    asked = call.query(UserList)
    return answers.page(external_users.page(call.store, call.scene, asked.window, q=asked.q), ListedUser.to_json)


def remove(call: Call) -> Response:
    """Remove a user with their tokens, triggers, accounts, runs and files."""
    external_id = external_users.checked(call.path["external_user_id"])
    removing.user(call.service, external_users.get(call.store, call.scene, external_id))
    return answers.empty()


OPERATIONS = (
    Operation("list_users", "GET", "P/users", index, (scopes.USERS_READ,), connect=False, query=UserList),
    Operation("delete_user", "DELETE", "P/users/<path:external_user_id>", remove, (scopes.USERS_WRITE,), connect=False),
)
