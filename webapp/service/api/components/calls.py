"""Configure, reload and run components (contract "Configure"), in every path form.

A Connect token acts for its own user. What goes wrong in a component answers 200 and says so. What is
wrong with the request answers 400 before anything runs.
"""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from flask import Response
from pydantic import BeforeValidator, Field, WithJsonSchema

from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Body, ExternalUserId, JsonObject
from webapp.service.api.base.operations import USER, Example, Operations
from webapp.service.api.components import models
from webapp.service.api.components.components import ACTIONS, COMPONENTS, NOUNS, TRIGGERS, ComponentVersion, Noun
from webapp.service.domain.base import scopes
from webapp.service.domain.components import components, file_stash, requests
from webapp.service.domain.components.components import OptionsQuery
from webapp.service.domain.components.requests import ComponentRequest

MAX_PAGE = 1_000_000


def _page_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_PAGE or value % 1:
        raise ValueError("Use a whole number from 0.")
    return int(value)


def _stash_id(value: Any) -> Any:
    if not isinstance(value, str | bool):
        raise ValueError("Use NEW, true or the stash_id of an earlier run.")
    return value


PageNumber = Annotated[
    int, BeforeValidator(_page_number), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_PAGE})
]
StashId = Annotated[
    str | bool, BeforeValidator(_stash_id), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "boolean"}]})
]

ConfiguredProps = Annotated[
    JsonObject | None,
    Field(description='Values by the names of the props; an account is `{"authProvisionId": "apn_…"}`.'),
]
DynamicPropsId = Annotated[str | None, Field(description="The id that the last reload answered.")]


class ComponentCall(Body):
    """What every call of a component takes. ``blocking`` is accepted, and always blocks."""

    id: str = Field(description="The component's key or id.")
    external_user_id: ExternalUserId
    version: ComponentVersion = None
    blocking: bool | None = Field(None, description="Accepted; every call waits for its result.")
    configured_props: ConfiguredProps = None
    dynamic_props_id: DynamicPropsId = None


class ConfigureCall(ComponentCall):
    """Which options are asked for."""

    prop_name: str = Field(description="The prop whose options are asked for.")
    page: PageNumber | None = Field(None, description="Which page of the options, from 0.")
    prev_context: JsonObject | None = Field(None, description="The `context` that the page before answered.")
    query: str | None = Field(None, description="Words to search the options for.")


class RunCall(ComponentCall):
    """A run. ``stash_id`` ("NEW", true or an earlier run's) keeps the files that it writes."""

    stash_id: StashId | None = Field(
        None, description="Where files are kept from one run to the next; `NEW` or true makes one."
    )


def configure(noun: Noun, call: Call) -> Response:
    """What may be chosen for a prop."""
    body = call.body(ConfigureCall)
    request = _request(call, noun, body)
    prop = request.component.prop_aliases.get(body.prop_name, body.prop_name)
    options_query = OptionsQuery(prop, body.page or 0, body.query or None, body.prev_context or {})
    return answer(components.configure(call.service, request, options_query))


def reload(noun: Noun, call: Call) -> Response:
    """The props of a component whose props depend on the values so far."""
    return answer(components.reload(call.service, _request(call, noun, call.body(ComponentCall))))


def run(call: Call) -> Response:
    """Run an action."""
    body = call.body(RunCall)
    stash_id = None if body.stash_id is None else file_stash.checked_stash_id(body.stash_id)
    return answer(components.run(call.service, replace(_request(call, ACTIONS, body), stash_id=stash_id)))


def _request(call: Call, noun: Noun, body: ComponentCall) -> ComponentRequest:
    """What the body asks for, once the caller is known to act for that user and on that kind of component."""
    external_id = call.caller.user_filter(body.external_user_id) or body.external_user_id
    component = requests.find(call.service, body.id, body.version or None, noun.kind)
    call.caller.require(scopes.ACTIONS if component.kind == "action" else scopes.TRIGGERS)
    added = requests.reloaded(call.service, call.scene, external_id, component, body.dynamic_props_id)
    return ComponentRequest(
        scene=call.scene,
        external_id=external_id,
        component=component,
        configured=requests.by_own_names(component, body.configured_props or {}, added),
        dynamic_props_id=body.dynamic_props_id or None,
    )


ACCOUNT = {"account": {"authProvisionId": "$ACCOUNT_ID"}}
CREATE_TASK = {"id": "sandbox-create-task", "external_user_id": USER}
NEW_TASK = {"id": "sandbox-new-task", "external_user_id": USER, "configured_props": ACCOUNT}
LIST_PROJECTS = {"id": "sandbox-list-projects", "external_user_id": USER, "configured_props": ACCOUNT}
CONFIGURE = {**CREATE_TASK, "prop_name": "project_id", "configured_props": ACCOUNT}
RELOAD = {**CREATE_TASK, "configured_props": {**ACCOUNT, "project_id": "prj_001"}}


def _operations(noun: Noun) -> Operations:
    declared = Operations(noun.group)
    declared.post(
        f"P/{noun.path}/configure",
        answer=models.Options,
        scopes=noun.scopes,
        body=ConfigureCall,
        limit="executions",
        example=Example(body={**NEW_TASK, "prop_name": "project_id"} if noun is TRIGGERS else CONFIGURE),
        name=f"configure_{noun.singular}",
    )(partial(configure, noun))
    declared.post(
        f"P/{noun.path}/props",
        answer=models.ReloadedProps,
        scopes=noun.scopes,
        body=ComponentCall,
        limit="executions",
        example=Example(body=NEW_TASK if noun is TRIGGERS else RELOAD),
        name=f"reload_{noun.singular}_props",
    )(partial(reload, noun))
    return declared


def _run_operation(noun: Noun) -> Operations:
    declared = Operations(noun.group)
    declared.post(
        f"P/{noun.path}/run",
        answer=models.Outcome,
        scopes=(scopes.ACTIONS,),
        body=RunCall,
        limit="executions",
        example=Example(body=LIST_PROJECTS),
        name=f"run_{noun.singular}",
    )(run)
    return declared


operations = [
    *(operation for noun in NOUNS for operation in _operations(noun)),
    *_run_operation(ACTIONS),
    *_run_operation(COMPONENTS),
]
