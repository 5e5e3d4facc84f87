"""The audit log of a project: who did what, newest first. Only OAuth clients can read it."""

from typing import Any, Literal

from flask import Response
from pydantic import Field

from webapp import audit
from webapp.audit import Filter
from webapp.service.api.base.call import Call, answer_page
from webapp.service.api.base.models import Answer, DateTime, Page, Paged
from webapp.service.api.base.operations import Example, Group, Operations
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects import external_users

operations = Operations(Group("Audit", "Who did what."))


class AuditList(Paged):
    """The filters of the list: the kind of object, one object, or the actor."""

    noun: str | None = Field(None, description="Only what was done to this kind of thing.")
    subject_id: str | None = Field(None, description="Only what was done to the thing with this id.")
    actor: str | None = Field(None, description="Only what was done by this client, user or person.")


class AuditEntry(Answer):
    """Who did what to which thing; without a project it concerns the whole workspace."""

    id: str = Field(examples=["aud_6Rb3Vg"])
    at: DateTime
    actor_type: Literal["client", "user", "person", "command", "system"]
    actor: str = Field(examples=["oc_4Tf7Bn"])
    noun: str = Field(examples=["account"])
    subject_id: str = Field(examples=["apn_5hQ2kLm9RtVx"])
    verb: str = Field(examples=["created"])
    sentence: str = Field(examples=["Ada connected GitHub."])
    project_id: str | None = Field(examples=["proj_8Fw3ZsKd"])
    environment: str | None = Field(examples=["development"])
    external_user_id: str | None = Field(examples=["user-123"])


@operations.get(
    "P/audit",
    answer=Page[AuditEntry],
    scopes=(token_scopes.PROJECTS_READ,),
    connect=False,
    query=AuditList,
    extension=True,
    example=Example(query={"limit": "10"}),
)
def list_audit(call: Call) -> Response:
    """Entries of this environment; a client of the whole workspace sees the workspace's too."""
    query = call.query(AuditList)
    entries = audit.page(call.store, _filter(call, query), query.window)
    user_ids = {entry.external_user_id for entry in entries.items}
    names = external_users.names(call.store, call.scene, [user_id for user_id in user_ids if user_id])

    def to_json(entry: audit.AuditEntry) -> dict[str, Any]:
        return {**entry.to_json(), "external_user_id": names.get(entry.external_user_id or "")}

    return answer_page(entries, to_json)


def _filter(call: Call, query: AuditList) -> Filter:
    return Filter(
        call.scene.project_id,
        call.scene.environment,
        query.noun or None,
        query.subject_id or None,
        workspace=call.caller.project_id is None,
        actor=query.actor or None,
    )
