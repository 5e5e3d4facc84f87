"""The data of pages about triggers, in one call: a trigger with its webhooks, workflows and last day, and the
newest of its logs; and the last day of several.
"""

from typing import Any, ClassVar

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.service.api import webhooks
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Answer, Data, Flag, Limit, Milliseconds
from webapp.service.api.base.operations import OWNER, Example, Operations
from webapp.service.api.deliveries import Hour, Stats
from webapp.service.api.deployed_triggers import (
    DEPLOYED_TRIGGERS,
    PATH,
    READ,
    TRIGGER_ID,
    DeployedTrigger,
    Owned,
    load,
    owner,
)
from webapp.service.api.logs import LogList, LogPage, page_json
from webapp.service.api.webhooks import Webhook, Workflow
from webapp.service.domain.deliveries import stats, trigger_webhooks
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.projects.log_entries import Kind
from webapp.service.domain.triggers import deployed_triggers, trigger_json

operations = Operations(DEPLOYED_TRIGGERS, TRIGGER_ID, read=READ, extension=True)
MAX_IDS = 100


class WebhookOfLate(Webhook):
    """A webhook, and its recent deliveries."""

    last_success_at: Milliseconds | None = Field(description="When something arrived there last.")
    median_ms: int | None = Field(description="How long an answer usually takes, of the newest that arrived.")
    next_attempt_at: Milliseconds | None = Field(description="When what waits is tried next.")


class OverviewOptions(Owned):
    """Which of its logs come with it; none unless they are asked for."""

    logs: Limit | None = Field(None, description="How many of the newest entries of its logs to add.")
    kind: Kind | None = Field(None, description="Of its logs, only entries of this kind.")
    quiet: Flag = Field(False, description="Of its logs, also polls that found nothing.")
    counts: Flag = Field(True, description="Whether to count the entries of its logs of each kind.")


class Overview(Answer):
    """A trigger with its context; `logs` are present if requested."""

    trigger: DeployedTrigger
    webhooks: list[WebhookOfLate]
    workflows: list[Workflow]
    stats: Stats
    logs: LogPage | None = None


class Chosen(Owned):
    """Which triggers, by their ids; those of others are left out."""

    lists: ClassVar[frozenset[str]] = frozenset({"ids"})
    ids: list[str] = Field(description="The ids of the triggers, at most 100.")


class LastDay(Answer):
    """The last 24 hours of one trigger, and its webhooks that fail."""

    id: str = Field(examples=["dc_6Gt1Nv"])
    hours: list[Hour]
    waiting: int
    delivered: int
    failed: int
    failing: list[Webhook]


@operations.get(f"{PATH}/overview", answer=Data[Overview], query=OverviewOptions, example=Example(query=OWNER))
def get_trigger_overview(call: Call) -> Response:
    """A trigger with its webhooks, its workflows and its last day, and the newest of its logs."""
    query = call.query(OverviewOptions)
    trigger = load(call, query)
    own = trigger_webhooks.of_trigger(call.store, trigger.id)
    statistics = stats.of_webhooks(call.store, trigger.id, own)
    workflows = trigger_webhooks.workflows_of(call.store, trigger.id)
    data: dict[str, Any] = {
        "trigger": trigger_json.to_json(call.service, trigger, extensions=True),
        "webhooks": [webhooks.to_json(call, webhook) | statistics[webhook.id] for webhook in own],
        "workflows": [webhooks.workflow_to_json(workflow) for workflow in workflows],
        "stats": stats.day(call.service, trigger.id),
    }
    if query.logs:
        newest = LogList.model_construct(
            external_user_id=query.external_user_id,
            id=trigger.id,
            kind=query.kind,
            quiet=query.quiet,
            limit=query.logs,
            counts=query.counts,
        )
        data["logs"] = page_json(call, newest)
    return answer({"data": data})


@operations.get(
    "P/trigger-stats",
    answer=Data[list[LastDay]],
    query=Chosen,
    example=Example(query={**OWNER, "ids": "$TRIGGER_ID"}),
)
def list_trigger_stats(call: Call) -> Response:
    """The last 24 hours of several triggers."""
    query = call.query(Chosen)
    if len(query.ids) > MAX_IDS:
        raise Invalid.of("ids", f"Name at most {MAX_IDS} triggers.")
    ids = deployed_triggers.own_ids(call.store, owner(call, query), query.ids)
    of_triggers = trigger_webhooks.webhooks_of(call.store, ids)
    return answer({"data": [_last_day(call, of_triggers, *day) for day in stats.days(call.service, ids).items()]})


def _last_day(
    call: Call, of_triggers: dict[str, list[Endpoint]], trigger_id: str, day: dict[str, Any]
) -> dict[str, Any]:
    failing = [webhook for webhook in of_triggers[trigger_id] if not webhook.active or webhook.consecutive_failures]
    return {"id": trigger_id, **day, "failing": [webhooks.to_json(call, webhook) for webhook in failing]}
