"""Deploying a trigger for one of your users (contract "Deploying")."""

from collections.abc import Mapping
from typing import Annotated, Any

from flask import Response
from pydantic import BeforeValidator, Field

from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Body, ExternalUserId
from webapp.service.api.base.operations import PROVIDER_ERRORS, USER, Example, Operations
from webapp.service.api.components.calls import ConfiguredProps, DynamicPropsId
from webapp.service.api.components.components import TRIGGERS, ComponentVersion
from webapp.service.api.triggers import models
from webapp.service.api.triggers.owned import TriggerOptions
from webapp.service.domain.base import scopes
from webapp.service.domain.components import requests
from webapp.service.domain.deliveries import endpoints, trigger_webhooks
from webapp.service.domain.triggers import deploying, serialization
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.deploying import Deployment

operations = Operations(TRIGGERS.group)
WorkflowId = Annotated[
    Annotated[str, Field(pattern=r"^p_[a-zA-Z0-9]+$")] | None,
    BeforeValidator(lambda value: None if value == "" else value),
]
EmitOnDeploy = Annotated[bool | None, Field(description="Whether it emits what is there already when it is deployed.")]


class NewTrigger(Body):
    """What to deploy, and for whom."""

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


@operations.post(
    "P/triggers/deploy",
    answer=models.ConfiguredTrigger,
    scopes=(scopes.TRIGGERS,),
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
    """Deploy a trigger. Whoever names a webhook is told the key that its events are signed with."""
    body = call.body(NewTrigger)
    deployment = _deployment(call, body)
    trigger = deploying.deploy(call.service, deployment)
    keys = trigger_webhooks.first_signing_keys(call.service, [trigger.id])  # of the webhook that was named just now
    extensions = call.query(TriggerOptions).extensions
    shown = serialization.to_json(call.service, trigger, extensions=extensions, keys=keys)
    return answer({"data": shown, **warned(trigger, deployment.configured)})


def warned(trigger: DeployedTrigger, configured: Mapping[str, Any] | None) -> dict[str, Any]:
    """Warnings about values for props that ``trigger`` does not have, where there are any (contract "Values")."""
    warnings = requests.warnings(trigger.props, configured or {})
    return {"warnings": warnings} if warnings else {}


def _deployment(call: Call, body: NewTrigger) -> Deployment:
    """What to deploy. Raises :class:`webapp.errors.Invalid` for a webhook that cannot be reached."""
    external_id = call.caller.user_filter(body.external_user_id) or body.external_user_id
    component = requests.find(call.service, body.id, body.version or None, "trigger")
    added = requests.reloaded(call.service, call.scene, external_id, component, body.dynamic_props_id)
    urls = [body.webhook_url] if body.webhook_url else []
    return Deployment(
        scene=call.scene,
        external_id=external_id,
        component=component,
        configured=requests.by_own_names(component, body.configured_props or {}, added),
        dynamic_props_id=body.dynamic_props_id or None,
        webhook_url=body.webhook_url or None,
        webhook_not_found=endpoints.check_urls(call.service, "webhook_url", *urls),
        workflow_id=body.workflow_id,
        emit_on_deploy=body.emit_on_deploy is not False,
        name=body.name or None,
    )
