"""Loading the trigger of a path through its owner, and what the paths of one trigger share."""

from typing import ClassVar

from webapp.errors import Detail, Invalid, NotFound
from webapp.service.api.base.call import Call
from webapp.service.api.base.models import Extensions, ExternalUserId, Paged, Query
from webapp.service.api.base.operations import Group, PathParameter
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import ABSENT, DeployedTrigger

DEPLOYED_TRIGGERS = Group(
    "Deployed triggers", "Triggers at work for one user: their settings, webhooks, events and deliveries."
)
TRIGGER_ID = PathParameter("trigger_id", "The deployed trigger's id.", "$TRIGGER_ID")
PATH = "P/deployed-triggers/<trigger_id>"
READ, WRITE = (scopes.DEPLOYED_TRIGGERS_READ,), (scopes.DEPLOYED_TRIGGERS_WRITE,)


class TriggerOptions(Query):
    """What a trigger is shown with."""

    extensions: Extensions = False


class Owned(Query):
    """Whose trigger it is; a Connect token says so by itself."""

    owner: ClassVar[str | None] = "external_user_id"
    external_user_id: ExternalUserId | None = None


class OwnedList(Owned, Paged):
    """The same for lists."""


def load(call: Call, query: Owned) -> DeployedTrigger:
    """The trigger of the path, if it is the named user's. Raises :class:`Invalid`, :class:`NotFound`, Forbidden."""
    return deployed_triggers.get(call.store, call.scene, call.path["trigger_id"], user=owner(call, query))


def owner(call: Call, query: Owned) -> ExternalUser:
    """The named user. Raises :class:`Invalid`, :class:`NotFound`, Forbidden."""
    external_id = call.caller.user_filter(query.external_user_id)
    if external_id is None:
        message = "Name the trigger's owner."
        raise Invalid(f"external_user_id is missing: {message}", [Detail("external_user_id", message)])
    user = call.user or external_users.find(call.store, call.scene, external_id)
    if user is None:
        raise NotFound(ABSENT)
    return user
