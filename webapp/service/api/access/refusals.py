"""Calls beyond a limit as the API shows them: how many there were lately, and who made them where it was one."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from webapp.audit import Actor
from webapp.service.api.base.models import Answer
from webapp.service.domain.access import embedding, oauth_clients
from webapp.service.domain.base.service import Service


class RefusedCaller(Answer):
    """Who made calls: an OAuth client, or an external user by a Connect token."""

    kind: Literal["client", "user", "person"]
    id: str = Field(examples=["oc_4Tf7Bn"])
    name: str = Field(description="What it is called in lists; of a user, your id.", examples=["Server"])


class Refusals(Answer):
    """How many calls beyond a limit there were in the last hour, and whose."""

    refused: int = Field(description="How many calls beyond the limit there were in the last hour.")
    refused_by: RefusedCaller | None = Field(description="Who made all of these; null where several did, or nobody.")


def to_json(service: Service, counted_under: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The fields of :class:`Refusals`, for each of the limits that count under those keys."""
    refused = embedding.lately(service, counted_under)
    return {
        key: {"refused": calls.count, "refused_by": calls.actor and _caller(service, calls.actor)}
        for key, calls in refused.items()
    }


def _caller(service: Service, actor: Actor) -> dict[str, str]:
    client = oauth_clients.find(service, actor.id) if actor.kind == "client" else None
    return {"kind": actor.kind, "id": actor.id, "name": client.name if client else actor.id}
