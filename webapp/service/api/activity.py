"""The activity of the accounts and triggers of an environment, newest first."""

from flask import Response
from pydantic import Field

from webapp.kit import cursors
from webapp.service.api import accounts
from webapp.service.api.base.call import Call, answer_page
from webapp.service.api.base.models import AppName, ExternalUserId, Page, Paged
from webapp.service.api.base.operations import OWNER, Example, Group, Operations
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects import activity, external_users

operations = Operations(Group("Activity", "What happened to accounts and triggers."))


class ActivityList(Paged):
    """Whose activity, and which part of it."""

    external_user_id: ExternalUserId | None = None
    app: AppName = None
    account_id: str | None = Field(None, description="The account's id (`apn_…`).")
    trigger_id: str | None = Field(None, description="The deployed trigger's id.")
    kind: str | None = Field(None, description="Only what is of this kind.")


@operations.get(
    "P/activity",
    answer=Page[accounts.ActivityEntry],
    scopes=(token_scopes.ACCOUNTS_READ,),
    query=ActivityList,
    extension=True,
    example=Example(query=OWNER),
)
def list_activity(call: Call) -> Response:
    """Everything that happened, or what happened to one user's accounts and triggers."""
    query = call.query(ActivityList)
    user_id = call.caller.user_filter(query.external_user_id)
    return answer_page(_page(call, user_id, query), activity.ActivityEntry.to_json)


def _page(call: Call, user_id: str | None, query: ActivityList) -> cursors.Page[activity.ActivityEntry]:
    user = external_users.find(call.store, call.scene, user_id) if user_id is not None else None
    if user is None and user_id is not None:
        return cursors.Page([], 0, "", "")
    app = apps.slug_of(call.service, query.app) if query.app else None
    activity_filter = activity.Filter(user.id if user else None, app, query.account_id, query.trigger_id, query.kind)
    return activity.of_scene(call.store, call.scene, query.window, activity_filter)
