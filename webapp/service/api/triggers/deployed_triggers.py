"""Deployed triggers (contract "Deployed triggers"): list, get, update, delete, and their runs.

A Connect token sees and changes its own user's triggers alone, and is never given a signing key.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from flask import Response
from pydantic import Field

from webapp.kit import cursors
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import AppName, Body, Data, ExternalUserId, Flag, Page, Paged
from webapp.service.api.base.operations import OWNER, PROVIDER_ERRORS, Example, Operations
from webapp.service.api.components.calls import ConfiguredProps, DynamicPropsId
from webapp.service.api.triggers import models
from webapp.service.api.triggers.deploy import EmitOnDeploy, warned
from webapp.service.api.triggers.owned import (
    DEPLOYED_TRIGGERS,
    PATH,
    READ,
    TRIGGER_ID,
    WRITE,
    Owned,
    OwnedList,
    TriggerOptions,
    load,
)
from webapp.service.domain.accounts import apps
from webapp.service.domain.components.requests import by_own_names
from webapp.service.domain.deliveries import trigger_webhooks
from webapp.service.domain.triggers import calls, changing, deployed_triggers, deploying, runs, serialization
from webapp.service.domain.triggers.changing import Change
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger, Filter

operations = Operations(DEPLOYED_TRIGGERS, TRIGGER_ID, read=READ, write=WRITE)


class TriggerChange(Body):
    """What to change; what is left out stays."""

    active: bool | None = Field(None, description="Whether it is on.")
    configured_props: ConfiguredProps = None
    name: str | None = Field(None, description="What it is called.")
    emit_on_deploy: EmitOnDeploy = None
    dynamic_props_id: DynamicPropsId = None
    version: str | None = Field(
        None, max_length=100, description="Another version of its component, such as `newest_version` (an extension)."
    )


class OwnedTriggerOptions(Owned, TriggerOptions):
    """The same for one trigger."""


class TriggerList(TriggerOptions, Paged):
    """Which triggers; ``all`` and ``app`` (a slug or an id) are Patchbay's own."""

    external_user_id: ExternalUserId | None = None
    emitter_type: Literal["email", "http", "source", "timer", "all"] = Field(
        "source", description="Only triggers of one kind; `source` unless given."
    )
    app: AppName = None


class TriggerRemoval(Owned):
    """How to delete."""

    ignore_hook_errors: Flag = Field(False, description="Delete it even when the app cannot be told.")


@operations.get(
    "P/deployed-triggers",
    answer=Page[models.DeployedTrigger],
    query=TriggerList,
    example=Example(query={**OWNER, "emitter_type": "timer"}),
)
def list_deployed_triggers(call: Call) -> Response:
    """Triggers of the environment, or of one user, oldest first."""
    query = call.query(TriggerList)
    trigger_filter = Filter(
        external_id=call.caller.user_filter(query.external_user_id),
        emitter=None if query.emitter_type == "all" else query.emitter_type,
        app=apps.slug_of(call.service, query.app) if query.app else None,
    )
    triggers = deployed_triggers.page(call.store, call.scene, trigger_filter, query.window)
    keys = _signing_keys(call, triggers.items)
    items = serialization.listed(call.service, triggers.items, extensions=query.extensions, keys=keys)
    page = cursors.Page(items, triggers.total_count, triggers.start_cursor, triggers.end_cursor)
    return answer_page(page, lambda item: item)


@operations.get(PATH, answer=Data[models.DeployedTrigger], query=OwnedTriggerOptions, example=Example(query=OWNER))
def get_deployed_trigger(call: Call) -> Response:
    """One trigger."""
    return _answer(call, load(call, call.query(Owned)))


@operations.put(
    PATH,
    answer=models.ConfiguredTrigger,
    query=OwnedTriggerOptions,
    body=TriggerChange,
    errors=PROVIDER_ERRORS,
    example=Example(query=OWNER, body={"name": "Every quarter of an hour", "active": True}),
)
def update_deployed_trigger(call: Call) -> Response:
    """Change a trigger's values, its name, its version, or whether it is on."""
    trigger = load(call, call.query(Owned))
    body = call.body(TriggerChange)
    component, configured = calls.component_of(call.service, trigger), body.configured_props
    if configured:
        configured = dict(by_own_names(component, configured, lambda: trigger.props))
    dynamic_id, version = body.dynamic_props_id or None, body.version or None
    change = Change(body.active, configured, body.name, body.emit_on_deploy, dynamic_id, version)
    changed = changing.update(call.service, trigger, change)
    return _answer(call, changed, **warned(changed, configured))


@operations.delete(
    PATH,
    query=TriggerRemoval,
    errors=PROVIDER_ERRORS,
    example=Example(path={"trigger_id": "$OTHER_TRIGGER_ID"}, query=OWNER),
)
def delete_deployed_trigger(call: Call) -> Response:
    """Unsubscribe a trigger and delete it."""
    query = call.query(TriggerRemoval)
    deploying.delete(call.service, load(call, query), ignore_hook_errors=query.ignore_hook_errors)
    return no_content()


@operations.get(
    f"{PATH}/logs",
    answer=Page[models.LogEntry],
    query=OwnedList,
    extension=True,
    example=Example(query=OWNER),
)
def list_trigger_logs(call: Call) -> Response:
    """The runs of a trigger, newest first."""
    query = call.query(OwnedList)
    return answer_page(runs.page(call.service, load(call, query), query.window), lambda item: item)


def _answer(call: Call, trigger: DeployedTrigger, **beside: Any) -> Response:
    extensions, keys = call.query(TriggerOptions).extensions, _signing_keys(call, [trigger])
    shown = serialization.to_json(call.service, trigger, extensions=extensions, keys=keys)
    return answer({"data": shown, **beside})


def _signing_keys(call: Call, triggers: Sequence[DeployedTrigger]) -> Mapping[str, str]:
    """The keys of the triggers' first webhooks, for OAuth clients alone."""
    if call.caller.connect is not None or not triggers:
        return serialization.NO_KEYS
    return trigger_webhooks.first_signing_keys(call.service, [trigger.id for trigger in triggers])
