"""What happened to the accounts of a scene, newest first. An extension, ours alone."""

from flask import Response

from webapp.kit import cursors
from webapp.service.api import answers
from webapp.service.api.call import Call
from webapp.service.api.operations import Operation
from webapp.service.api.schema import ExternalUserId, Paged
from webapp.service.domain import external_users, history, scopes
from webapp.service.domain.history import Entry


class ActivityList(Paged):
    """Whose activity."""

    external_user_id: ExternalUserId | None = None


def index(call: Call) -> Response:
    """Everything that happened, or what happened to one user's accounts."""
    asked = call.query(ActivityList)
    user_id = call.caller.user_filter(asked.external_user_id)
    return answers.page(_found(call, user_id, asked.window), Entry.to_json)


def _found(call: Call, user_id: str | None, window: cursors.Window) -> cursors.Page[Entry]:
    if user_id is None:
        return history.of_scene(call.store, call.scene, window, external_user_id=None)
    user = external_users.find(call.store, call.scene, user_id)
    if user is None:
        return cursors.Page([], 0, "", "")
    return history.of_scene(call.store, call.scene, window, external_user_id=user.id)


OPERATIONS = (Operation("list_activity", "GET", "P/activity", index, (scopes.ACCOUNTS_READ,), query=ActivityList),)
