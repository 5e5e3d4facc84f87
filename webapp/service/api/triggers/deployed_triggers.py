"""Deployed triggers (specification 4.8–4.10, WIRE "Deployed trigger"): deploy, list, get, update, delete; and what is
ours alone: the log of runs, a test event, what uses an account.

A Connect token sees and changes its own user's alone, and is never given a signing key but that of a webhook which
it names at the deployment.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from flask import Response
from pydantic import AfterValidator, Field

from webapp.kit import cursors
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body, ExternalUserId, Flag, Paged, Query
from webapp.service.api.components.calls import JsonObject
from webapp.service.api.triggers.owned import Owned, OwnedList, load
from webapp.service.components.calls import Emitted
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import scopes
from webapp.service.domain.components import components
from webapp.service.domain.deliveries import endpoints, events
from webapp.service.domain.triggers import changing, deployed_triggers, deploying, firing, runs, serialization
from webapp.service.domain.triggers.changing import Change
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger, Filter
from webapp.service.domain.triggers.deploying import Deployment

MAX_TEST_EVENT_DEPTH = 100


def _shallow(found: Any) -> Any:
    """Refuse what is nested deeper than an event may be."""
    level = [found]
    for _ in range(MAX_TEST_EVENT_DEPTH):
        level = [child for one in level for child in _children(one)]
        if not level:
            return found
    raise ValueError(f"It is nested more than {MAX_TEST_EVENT_DEPTH} levels deep.")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


class NewTrigger(Body):
    """What to deploy, for whom (specification 4.8). ``name`` is ours."""

    id: str
    external_user_id: ExternalUserId
    version: str | None = None
    configured_props: JsonObject | None = None
    dynamic_props_id: str | None = None
    workflow_id: Annotated[str, Field(pattern=r"^p_[a-zA-Z0-9]+$")] | None = None
    webhook_url: str | None = None
    emit_on_deploy: bool | None = None
    name: str | None = None


class TriggerChange(Body):
    """What to change (specification 4.9). ``dynamic_props_id`` is ours."""

    active: bool | None = None
    configured_props: JsonObject | None = None
    name: str | None = None
    emit_on_deploy: bool | None = None
    dynamic_props_id: str | None = None


class TestEvent(Body):
    """The event to send; none means the newest real one."""

    event: Annotated[Any, AfterValidator(_shallow)] = None


class Shape(Query):
    """What a trigger is shown with. ``extensions`` is ours alone."""

    extensions: Flag = False


class OwnedShape(Owned, Shape):
    """The same for one trigger."""


class TriggerList(Shape, Paged):
    """Which triggers; ``all`` and ``app`` (a slug or an id) are ours."""

    external_user_id: ExternalUserId | None = None
    emitter_type: Literal["email", "http", "source", "timer", "all"] = "source"
    app: str | None = None


class Removal(Owned):
    """How to delete."""

    ignore_hook_errors: Flag = False


def deploy(call: Call) -> Response:
    """Deploy a trigger. Whoever names a webhook is told the key that its events are signed with."""
    body = call.body(NewTrigger)
    external_id = call.caller.user_filter(body.external_user_id) or body.external_user_id
    component = components.find(call.service, body.id, body.version or None, "trigger")
    if body.webhook_url:
        endpoints.check_url("webhook_url", body.webhook_url)
    order = Deployment(
        scene=call.scene,
        external_id=external_id,
        component=component,
        given=body.configured_props or {},
        dynamic_props_id=body.dynamic_props_id or None,
        webhook_url=body.webhook_url or None,
        workflow_id=body.workflow_id,
        emit_on_deploy=body.emit_on_deploy is not False,
        name=body.name,
    )
    trigger = deploying.deploy(call.service, order)
    key = endpoints.signing_key(call.service, trigger.id, body.webhook_url) if body.webhook_url else None
    shown = serialization.to_json(call.service, trigger, extensions=call.query(Shape).extensions, signing_key=key)
    return answers.json({"data": shown})


def index(call: Call) -> Response:
    """Triggers of the environment, or of one user, oldest first."""
    asked = call.query(TriggerList)
    wanted = Filter(
        external_id=call.caller.user_filter(asked.external_user_id),
        emitter=None if asked.emitter_type == "all" else asked.emitter_type,
        app=apps.slug_of(call.service, asked.app) if asked.app else None,
    )
    found = deployed_triggers.page(call.store, call.scene, wanted, asked.window)
    shown = serialization.listed(call.service, found.items, extensions=asked.extensions)
    page = cursors.Page(shown, found.total_count, found.start_cursor, found.end_cursor)
    return answers.page(page, lambda one: one)


def show(call: Call) -> Response:
    """One trigger."""
    return _shown(call, load(call, call.query(Owned)))


def update(call: Call) -> Response:
    """Change a trigger's values, its name, or whether it is on."""
    trigger = load(call, call.query(Owned))
    body = call.body(TriggerChange)
    change = Change(body.active, body.configured_props, body.name, body.emit_on_deploy, body.dynamic_props_id or None)
    return _shown(call, changing.update(call.service, trigger, change))


def remove(call: Call) -> Response:
    """Unsubscribe a trigger and delete it."""
    asked = call.query(Removal)
    deploying.delete(call.service, load(call, asked), ignore_hook_errors=asked.ignore_hook_errors)
    return answers.empty()


def logs(call: Call) -> Response:
    """The runs of a trigger, newest first."""
    asked = call.query(OwnedList)
    return answers.page(runs.page(call.service, load(call, asked), asked.window), lambda one: one)


def test_event(call: Call) -> Response:
    """Send an event as if the trigger had emitted it."""
    trigger, given = load(call, call.query(Owned)), call.body(TestEvent)
    event = given.event if "event" in given.model_fields_set else _sample(call, trigger)
    emitted = Emitted(event, None, "Test event", call.service.clock())
    (made,) = firing.emit(call.service, trigger, [emitted])
    return answers.json({"data": events.to_json(made)})


def _shown(call: Call, trigger: DeployedTrigger) -> Response:
    key = None if call.caller.connect is not None else serialization.signing_key(call.service, trigger)
    shown = serialization.to_json(call.service, trigger, extensions=call.query(Shape).extensions, signing_key=key)
    return answers.json({"data": shown})


def _sample(call: Call, trigger: DeployedTrigger) -> Any:
    """The newest event of the trigger, or a plain one that names it."""
    newest = events.opened(call.service, events.page_of_trigger(call.store, trigger.id, limit=1))
    plain: Mapping[str, Any] = {"test": True, "trigger": trigger.id, "timestamp": call.service.clock()}
    return events.to_json(newest[0])["e"] if newest else plain


READ, WRITE = (scopes.DEPLOYED_TRIGGERS_READ,), (scopes.DEPLOYED_TRIGGERS_WRITE,)
ONE = "P/deployed-triggers/<trigger_id>"
OPERATIONS = (
    Operation("deploy_trigger", "POST", "P/triggers/deploy", deploy, (scopes.TRIGGERS,), query=Shape, body=NewTrigger),
    Operation("list_deployed_triggers", "GET", "P/deployed-triggers", index, READ, query=TriggerList),
    Operation("get_deployed_trigger", "GET", ONE, show, READ, query=OwnedShape),
    Operation("update_deployed_trigger", "PUT", ONE, update, WRITE, query=OwnedShape, body=TriggerChange),
    Operation("delete_deployed_trigger", "DELETE", ONE, remove, WRITE, query=Removal),
    Operation("list_trigger_logs", "GET", f"{ONE}/logs", logs, READ, query=OwnedList),
    Operation("send_test_event", "POST", f"{ONE}/test_event", test_event, WRITE, query=Owned, body=TestEvent),
)
