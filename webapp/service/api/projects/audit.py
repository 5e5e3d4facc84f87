"""Who did what in a project, newest first. An extension, ours alone, and for OAuth clients only."""

from typing import Any

from flask import Response

from webapp import audit
from webapp.audit import AuditEntry, Filter
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Paged
from webapp.service.domain.base import scopes
from webapp.service.domain.projects import external_users


class AuditList(Paged):
    """Which entries: of what was done to one kind of thing, or to one thing, or by somebody."""

    noun: str | None = None
    subject_id: str | None = None
    actor: str | None = None


def index(call: Call) -> Response:
    """Entries of this environment; a client of the whole workspace sees the workspace's too."""
    asked = call.query(AuditList)
    scene, whole = call.scene, call.caller.project_id is None
    narrowed = (asked.noun or None, asked.subject_id or None)
    wanted = Filter(scene.project_id, scene.environment, *narrowed, workspace=whole, actor=asked.actor or None)
    found = audit.page(call.store, wanted, asked.window)
    users = {one.external_user_id for one in found.items}
    names = external_users.names(call.store, scene, [one for one in users if one])

    def shown(entry: AuditEntry) -> dict[str, Any]:
        return {**entry.to_json(), "external_user_id": names.get(entry.external_user_id or "")}

    return answers.page(found, shown)


OPERATIONS = (
    Operation("list_audit", "GET", "P/audit", index, (scopes.PROJECTS_READ,), connect=False, query=AuditList),
)
