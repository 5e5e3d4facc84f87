"""What happened to the accounts and triggers of a scene, newest first. An extension, ours alone."""

from flask import Response

from webapp.kit import cursors
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import ExternalUserId, Paged
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import external_users, history
from webapp.service.domain.projects.history import HistoryEntry


class ActivityList(Paged):
    """Whose activity, and which part of it."""

    external_user_id: ExternalUserId | None = None
    app: str | None = None
    account_id: str | None = None
    trigger_id: str | None = None
    kind: str | None = None


def index(call: Call) -> Response:
    """Everything that happened, or what happened to one user's accounts and triggers."""
    asked = call.query(ActivityList)
    user_id = call.caller.user_filter(asked.external_user_id)
    return answers.page(_found(call, user_id, asked), HistoryEntry.to_json)


def _found(call: Call, user_id: str | None, asked: ActivityList) -> cursors.Page[HistoryEntry]:
    user = external_users.find(call.store, call.scene, user_id) if user_id is not None else None
    if user is None and user_id is not None:
        return cursors.Page([], 0, "", "")
    wanted = history.Filter(user.id if user else None, asked.app, asked.account_id, asked.trigger_id, asked.kind)
    return history.of_scene(call.store, call.scene, asked.window, wanted)


OPERATIONS = (Operation("list_activity", "GET", "P/activity", index, (scopes.ACCOUNTS_READ,), query=ActivityList),)
