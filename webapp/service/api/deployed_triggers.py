"""Deployed triggers: deploying one (contract "Deploying"), listing, getting, updating and deleting them, and their
runs (contract "Deployed triggers").

A Connect token can access only its own user's triggers, and gets a signing key only of a webhook that it names when it
deploys.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from flask import Response
from pydantic import BeforeValidator, Field

from webapp.errors import Detail, Invalid, NotFound
from webapp.kit import cursors
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import (
    Answer,
    AppName,
    Body,
    Data,
    Extensions,
    ExternalUserId,
    Flag,
    Milliseconds,
    Page,
    Paged,
    Query,
)
from webapp.service.api.base.operations import OWNER, PROVIDER_ERRORS, USER, Example, Group, Operations, PathParameter
from webapp.service.api.components import (
    TRIGGERS,
    ComponentVersion,
    ConfigurableProp,
    ConfiguredProps,
    DynamicPropsId,
    Observation,
    Warned,
)
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.components import component_requests, prop_warnings
from webapp.service.domain.components.component_requests import by_own_names
from webapp.service.domain.deliveries import endpoints, trigger_webhooks
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.triggers import calls, deployed_triggers, deployments, runs, trigger_json
from webapp.service.domain.triggers.deployed_triggers import ABSENT, Filter
from webapp.service.domain.triggers.deployments import Change, Deployment

DEPLOYED_TRIGGERS = Group(
    "Deployed triggers", "Triggers at work for one user: their settings, webhooks, events and deliveries."
)
TRIGGER_ID = PathParameter("trigger_id", "The deployed trigger's id.", "$TRIGGER_ID")
PATH = "P/deployed-triggers/<trigger_id>"
READ, WRITE = (token_scopes.DEPLOYED_TRIGGERS_READ,), (token_scopes.DEPLOYED_TRIGGERS_WRITE,)
_deploying = Operations(TRIGGERS.group)
WorkflowId = Annotated[
    Annotated[str, Field(pattern=r"^p_[a-zA-Z0-9]+$")] | None,
    BeforeValidator(lambda value: None if value == "" else value),
]
EmitOnDeploy = Annotated[bool | None, Field(description="Whether it emits what is there already when it is deployed.")]
_deployed = Operations(DEPLOYED_TRIGGERS, TRIGGER_ID, read=READ, write=WRITE)


class TriggerOptions(Query):
    """The optional parts of a trigger."""

    extensions: Extensions = False


class Owned(Query):
    """The user of the trigger; a Connect token contains it."""

    owner: ClassVar[str | None] = "external_user_id"
    external_user_id: ExternalUserId | None = None


class OwnedList(Owned, Paged):
    """The same for lists."""


class UsedAccount(Answer):
    """An account that a trigger works with."""

    prop: str
    id: str = Field(examples=["id_1Ab2Cd"])


class DeployedTrigger(Answer):
    """A deployed trigger. Fields below the key are for one kind of trigger, or are added by `extensions`."""

    id: str = Field(examples=["dc_6Gt1Nv"])
    owner_id: str = Field(examples=["exu_4Jr6Yh"])
    component_id: str = Field(examples=["sc_9Dk2Wx"])
    configurable_props: list[ConfigurableProp] = Field(examples=[[]])
    configured_props: dict[str, Any]
    active: bool
    created_at: Milliseconds
    updated_at: Milliseconds
    name: str = Field(examples=["New issue"])
    name_slug: str = Field(examples=["new-issue"])
    type: Literal["DeployedComponent", "HttpInterface", "TimerInterface"]
    component_key: str = Field(examples=["github-new-issue"])
    callback_observations: None
    emit_on_deploy: bool
    webhook_signing_key: str = Field("", description="Absent where it is not shown, or there is none.")
    endpoint_url: str = ""
    custom_response: bool = False
    key: str = ""
    interval_seconds: int | None = None
    cron: str | None = None
    timezone: str = ""
    schedule_changed_at: Milliseconds | None = None
    email_address: str = ""
    version: str = ""
    available: bool = Field(True, description="False where that version of it was removed from this installation.")
    newest_version: str | None = Field(None, description="A later version; the newest if its own was removed.")
    app: str | None = None
    external_user_id: str = ""
    emitter_type: str = ""
    switched_off: str | None = None
    last_event_at: Milliseconds | None = None
    last_run_at: Milliseconds | None = None
    next_run_at: Milliseconds | None = None
    schedule: dict[str, Any] | None = None
    instant: bool = False
    notified: bool = Field(False, description="Whether its app notifies it at the moment; it then polls at once.")
    notification_error: str | None = Field(None, description="Why its app does not, where it should.")
    accounts: list[UsedAccount] = Field(default_factory=list)
    waits: str | None = Field(None, description="Why it waits, until that is fixed; null if it does not wait.")
    last_error: str | None = None


class ConfiguredTrigger(Warned):
    """A deployed trigger, after its values were set."""

    data: DeployedTrigger


class LogEntry(Answer):
    """One run of a trigger."""

    id: str = Field(examples=["tr_2Hy5Cw"])
    at: Milliseconds
    cause: str = Field(examples=["timer"])
    took_ms: int
    emitted: int
    error: str | None = Field(examples=[None])
    ok: bool
    os: list[Observation] = Field(examples=[[]])


class NewTrigger(Body):
    """The trigger to deploy, and its user."""

    id: str = Field(description="The component's key or id.")
    external_user_id: ExternalUserId
    version: ComponentVersion = None
    configured_props: ConfiguredProps = None
    dynamic_props_id: DynamicPropsId = None
    workflow_id: WorkflowId = Field(None, description="A workflow that its events go to (`p_…`).")
    webhook_url: str | None = Field(
        None, description="Where its events go; the answer then holds the key that they are signed with."
    )
    emit_on_deploy: EmitOnDeploy = None
    name: str | None = Field(None, description="What it is called.")


class TriggerChange(Body):
    """The changes; omitted fields are unchanged."""

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
    """Options of the deletion."""

    ignore_hook_errors: Flag = Field(False, description="Delete it even if the app cannot be unsubscribed.")


def load(call: Call, query: Owned) -> deployed_triggers.DeployedTrigger:
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


@_deploying.post(
    "P/triggers/deploy",
    answer=ConfiguredTrigger,
    scopes=(token_scopes.TRIGGERS,),
    query=TriggerOptions,
    body=NewTrigger,
    errors=PROVIDER_ERRORS,
    example=Example(
        body={
            "id": "schedule-custom-interval",
            "external_user_id": USER,
            "configured_props": {"cron": {"intervalSeconds": 900}},
            "webhook_url": "https://app.example.com/events",
        }
    ),
)
def deploy_trigger(call: Call) -> Response:
    """Deploy a trigger. A caller who names a webhook gets the key that signs its events."""
    body = call.body(NewTrigger)
    deployment = _deployment(call, body)
    trigger = deployments.deploy(call.service, deployment)
    keys = trigger_webhooks.first_signing_keys(call.service, [trigger.id])  # of the webhook that was named just now
    extensions = call.query(TriggerOptions).extensions
    shown = trigger_json.to_json(call.service, trigger, extensions=extensions, keys=keys)
    return answer({"data": shown, **warned(trigger, deployment.configured)})


def warned(trigger: deployed_triggers.DeployedTrigger, configured: Mapping[str, Any] | None) -> dict[str, Any]:
    """Warnings about values for props that ``trigger`` does not have, where there are any (contract "Values")."""
    warnings = prop_warnings.warnings(trigger.props, configured or {})
    return {"warnings": warnings} if warnings else {}


def _deployment(call: Call, body: NewTrigger) -> Deployment:
    """The deployment to make. Raises :class:`webapp.errors.Invalid` for a webhook that cannot be reached."""
    external_id = call.caller.user_filter(body.external_user_id) or body.external_user_id
    component = component_requests.find(call.service, body.id, body.version or None, "trigger")
    added = component_requests.reloaded(call.service, call.scene, external_id, component, body.dynamic_props_id)
    urls = [body.webhook_url] if body.webhook_url else []
    return Deployment(
        scene=call.scene,
        external_id=external_id,
        component=component,
        configured=component_requests.by_own_names(component, body.configured_props or {}, added),
        dynamic_props_id=body.dynamic_props_id or None,
        webhook_url=body.webhook_url or None,
        webhook_not_found=endpoints.check_urls(call.service, "webhook_url", *urls),
        workflow_id=body.workflow_id,
        emit_on_deploy=body.emit_on_deploy is not False,
        name=body.name or None,
    )


@_deployed.get(
    "P/deployed-triggers",
    answer=Page[DeployedTrigger],
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
    items = trigger_json.list_to_json(call.service, triggers.items, extensions=query.extensions, keys=keys)
    page = cursors.Page(items, triggers.total_count, triggers.start_cursor, triggers.end_cursor)
    return answer_page(page, lambda item: item)


@_deployed.get(PATH, answer=Data[DeployedTrigger], query=OwnedTriggerOptions, example=Example(query=OWNER))
def get_deployed_trigger(call: Call) -> Response:
    """One trigger."""
    return _answer(call, load(call, call.query(Owned)))


@_deployed.put(
    PATH,
    answer=ConfiguredTrigger,
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
    changed = deployments.update(call.service, trigger, change)
    return _answer(call, changed, **warned(changed, configured))


@_deployed.delete(
    PATH,
    query=TriggerRemoval,
    errors=PROVIDER_ERRORS,
    example=Example(path={"trigger_id": "$OTHER_TRIGGER_ID"}, query=OWNER),
)
def delete_deployed_trigger(call: Call) -> Response:
    """Unsubscribe a trigger and delete it."""
    query = call.query(TriggerRemoval)
    deployments.delete(call.service, load(call, query), ignore_hook_errors=query.ignore_hook_errors)
    return no_content()


@_deployed.get(
    f"{PATH}/logs",
    answer=Page[LogEntry],
    query=OwnedList,
    extension=True,
    example=Example(query=OWNER),
)
def list_trigger_logs(call: Call) -> Response:
    """The runs of a trigger, newest first."""
    query = call.query(OwnedList)
    listed = runs.page(call.store, load(call, query).id, query.window)
    return answer_page(listed, lambda row: runs.to_json(call.service, row))


def _answer(call: Call, trigger: deployed_triggers.DeployedTrigger, **extra: Any) -> Response:
    extensions, keys = call.query(TriggerOptions).extensions, _signing_keys(call, [trigger])
    shown = trigger_json.to_json(call.service, trigger, extensions=extensions, keys=keys)
    return answer({"data": shown, **extra})


def _signing_keys(call: Call, triggers: Sequence[deployed_triggers.DeployedTrigger]) -> Mapping[str, str]:
    """The keys of the triggers' first webhooks, only for OAuth clients."""
    if call.caller.connect is not None or not triggers:
        return trigger_json.NO_KEYS
    return trigger_webhooks.first_signing_keys(call.service, [trigger.id for trigger in triggers])


operations = [*_deploying, *_deployed]
