"""How operations below ``P/deployed-triggers/{trigger_id}`` find the trigger: through its owner."""

from typing import ClassVar

from webapp.errors import Detail, Invalid, NotFound
from webapp.service.api.base.call import Call
from webapp.service.api.base.schema import ExternalUserId, Paged, Query
from webapp.service.domain.projects import external_users
from webapp.service.domain.triggers import deployed_triggers
from webapp.service.domain.triggers.deployed_triggers import ABSENT, DeployedTrigger


class Owned(Query):
    """Whose trigger it is; a Connect token says so by itself."""

    owner: ClassVar[str | None] = "external_user_id"
    external_user_id: ExternalUserId | None = None


class OwnedList(Owned, Paged):
    """The same for lists."""


def load(call: Call, asked: Owned) -> DeployedTrigger:
    """The trigger of the path, if it is the named user's. Raises :class:`Invalid`, :class:`NotFound`, Forbidden."""
    user_id = call.caller.user_filter(asked.external_user_id)
    if user_id is None:
        message = "Name the trigger's owner."
        raise Invalid(f"external_user_id is missing: {message}", [Detail("external_user_id", message)])
    user = call.user or external_users.find(call.store, call.scene, user_id)
    if user is None:
        raise NotFound(ABSENT)
    return deployed_triggers.get(call.store, call.scene, call.path["trigger_id"], user=user)
