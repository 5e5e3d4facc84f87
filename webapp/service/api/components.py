"""Components, actions and triggers (contract "Components"): lists, one by its key or id in any version, and the
calls to configure, reload and run (contract "Configure").

The three nouns differ only in the kinds of component that they admit. A Connect token acts for its own user. An error
of a component is part of a 200 response; an error of the request is a 400 before anything runs.
"""

from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import orjson
from flask import Response
from pydantic import BeforeValidator, Field, WithJsonSchema

from webapp.service.api.base.call import Call, answer, answer_page
from webapp.service.api.base.models import (
    Answer,
    AppName,
    Body,
    Data,
    Extensions,
    ExternalUserId,
    JsonObject,
    Milliseconds,
    Page,
    Paged,
    PieceOrigin,
    Problem,
    Query,
    SearchWords,
    Slug,
)
from webapp.service.api.base.operations import USER, Example, Group, Operations, PathParameter
from webapp.service.catalog import checked
from webapp.service.catalog.components import ComponentFilter, ComponentInfo, Kind
from webapp.service.components.props import PropType
from webapp.service.domain.accounts import apps
from webapp.service.domain.base import token_scopes
from webapp.service.domain.components import component_requests, components, file_stash
from webapp.service.domain.components.component_requests import ComponentRequest
from webapp.service.domain.components.components import OptionsQuery
from webapp.service.domain.pieces import uses

MAX_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class Noun:
    """One of the three path forms: the ``kind`` that it admits (None for both), and the scopes that open it."""

    path: str
    singular: str
    kind: Kind | None
    scopes: tuple[str, ...]
    group: Group


class ComponentList(Paged):
    """Which components; ``app`` is a slug or an id."""

    lists: ClassVar[frozenset[str]] = frozenset({"connected"})
    q: SearchWords = None
    app: AppName = None
    component_type: Literal["action", "trigger"] | None = Field(None, description="Only one kind.")
    registry: Literal["public", "private", "all"] | None = Field(
        None, description="Only the built-in components, or only the operator's own."
    )
    connected: list[Slug] = Field(
        default_factory=list, max_length=200, description="With `q`, the apps whose components come first, by slug."
    )
    extensions: Extensions = False


ComponentVersion = Annotated[str | None, Field(description="A version; the highest release unless given.")]


class Version(Query):
    """Which version; the highest release without one."""

    version: ComponentVersion = None
    extensions: Extensions = False


class ConfigurableProp(Answer):
    """A prop. Fields after `options` are for some types only."""

    name: str = Field(examples=["GitHub"])
    type: PropType
    label: str = ""
    description: str = ""
    optional: bool = False
    disabled: bool = False
    readOnly: bool = False
    hidden: bool = False
    remoteOptions: bool = False
    useQuery: bool = False
    reloadProps: bool = False
    withLabel: bool = False
    default: Any = None
    options: list[Any] = Field(default_factory=list)
    secret: bool = False
    format: str = ""
    min: int = 0
    max: int = 0
    content: str = ""
    alertType: Literal["info", "neutral", "warning", "error"] = "info"
    app: str = ""
    auth: dict[str, str] = Field(default_factory=dict)
    appProp: str = ""
    baseIdProp: str = ""
    tableIdProp: str = ""
    eventNames: list[str] = Field(default_factory=list)
    polls: bool = False
    remote: bool = False
    static: Any = None
    customResponse: bool = False
    at: str = ""
    accessMode: str = ""
    sync: bool = False


class Annotations(Answer):
    """The effects of calling a component.

    ``spendsHint`` is Patchbay's own: the component sends or costs something irrevocably, but deletes and overwrites
    nothing. Absent if false.
    """

    title: str
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool
    spendsHint: bool = False


class Component(Answer):
    """An action or a trigger."""

    key: str = Field(examples=["github-create-issue"])
    name: str = Field(examples=["Create issue"])
    version: str = Field(examples=["0.0.1"])
    configurable_props: list[ConfigurableProp] = Field(examples=[[]])
    description: str = Field(examples=[""])
    component_type: Literal["action", "trigger"]
    annotations: Annotations
    stash: str = ""


class ListedComponentExtensions(Answer):
    """Patchbay's own facts about a listed component. `tag` is its group, if it is an operation of a whole API."""

    tag: str | None = Field(examples=[None])


class ComponentExtensions(ListedComponentExtensions):
    """Patchbay's own facts about a component. `piece` is null unless it was added from npm. `checked` says whether
    its requests were compared with a description or an SDK and agree, `checked_against` with which of the two, and
    `described_on` when that was published."""

    piece: PieceOrigin | None
    checked: bool
    checked_against: Literal["description", "sdk"] | None
    described_on: date | None


class ComponentDetails(Component):
    """An action or a trigger; `patchbay` is there when `extensions` were asked for."""

    patchbay: ComponentExtensions | None = None


class ListedComponent(Component):
    """An action or a trigger in a list; `patchbay` is there when `extensions` were asked for."""

    patchbay: ListedComponentExtensions | None = None


class ObservedError(Answer):
    """The error of a component."""

    name: str = Field(examples=["GitHub"])
    message: str
    stack: str = ""
    account_id: str = Field("", description="The account that lacks scopes.", examples=["apn_7Rt2Mw"])
    lacking_scopes: list[str] = Field([], description="OAuth scopes that the action needs and the account lacks.")


class Observation(Answer):
    """One line of a log: `k` is `log`, `warning` or `error`."""

    k: str = Field(examples=["emit"])
    ts: Milliseconds
    msg: str = ""
    err: ObservedError | None = None


class Option(Answer):
    """One thing to choose."""

    label: str = Field(examples=["Inbox"])
    value: str | int | bool = Field(examples=["prj_001"])


class Warned(Answer):
    """Values for props that do not exist; absent where there are none. Patchbay's own."""

    warnings: list[Problem] = Field(default_factory=list)


class Options(Warned):
    """The options of a prop. Errors of the component are in `errors` and `observations`."""

    options: list[Option] | None
    stringOptions: list[str] | None = Field(examples=[None])
    observations: list[Observation] | None = Field(examples=[[]])
    context: dict[str, Any] | None
    errors: list[str]


class DynamicProps(Answer):
    """The whole new list of props, and the id by which later calls name it."""

    id: str = Field(examples=["dyp_8Zl2Xm"])
    configurableProps: list[ConfigurableProp] = Field(examples=[[]])


class ReloadedProps(Warned):
    """The props that follow from the values so far."""

    observations: list[Observation] = Field(examples=[[]])
    errors: list[str]
    dynamicProps: DynamicProps | None


class Outcome(Warned):
    """The result of an action. `exports.$summary` says it in one line; `os` has the log and any error."""

    exports: dict[str, Any] = Field(examples=[{"$summary": "Created issue 42"}])
    os: list[Observation] = Field(examples=[[]])
    ret: Any = Field(examples=[{"number": 42}])
    stash_id: str = ""


ConfiguredProps = Annotated[
    JsonObject | None,
    Field(description='Values by the names of the props; an account is `{"authProvisionId": "apn_…"}`.'),
]
DynamicPropsId = Annotated[str | None, Field(description="The id that the last reload answered.")]


class ComponentCall(Body):
    """The parameters that all calls of components share. ``blocking`` is accepted; every call blocks."""

    id: str = Field(description="The component's key or id.")
    external_user_id: ExternalUserId
    version: ComponentVersion = None
    blocking: bool | None = Field(None, description="Accepted; every call waits for its result.")
    configured_props: ConfiguredProps = None
    dynamic_props_id: DynamicPropsId = None


def _page_number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_PAGE or value % 1:
        raise ValueError("Use a whole number from 0.")
    return int(value)


PageNumber = Annotated[
    int, BeforeValidator(_page_number), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_PAGE})
]


class ConfigureCall(ComponentCall):
    """Which options are asked for."""

    prop_name: str = Field(description="The prop whose options are asked for.")
    page: PageNumber | None = Field(None, description="Which page of the options, from 0.")
    prev_context: JsonObject | None = Field(None, description="The `context` that the page before answered.")
    query: str | None = Field(None, description="Words to search the options for.")


StashId = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "boolean"}]})]


class RunCall(ComponentCall):
    """A run. ``stash_id`` ("NEW", true or an earlier run's) keeps the files that it writes."""

    stash_id: StashId | None = Field(
        None, description="Where files are kept from one run to the next; `NEW` or true makes one."
    )


COMPONENTS = Noun(
    "components",
    "component",
    None,
    (token_scopes.ACTIONS, token_scopes.TRIGGERS),
    Group("Components", "Actions and triggers together, by one address."),
)
ACTIONS = Noun(
    "actions",
    "action",
    "action",
    (token_scopes.ACTIONS,),
    Group("Actions", "What can be done in an app: list actions, ask what a field offers, run one."),
)
TRIGGERS = Noun(
    "triggers",
    "trigger",
    "trigger",
    (token_scopes.TRIGGERS,),
    Group("Triggers", "Events of an app: list triggers, ask what a field offers, deploy one."),
)
NOUNS = (COMPONENTS, ACTIONS, TRIGGERS)
COMPONENT_ID = PathParameter("component_id", "The component's key or id (`sc_…`).", "sandbox-create-task")
READ = (token_scopes.ACTIONS, token_scopes.TRIGGERS)
LIST_EXAMPLES = {
    "components": Example(query={"app": "sandbox"}),
    "actions": Example(query={"q": "create task"}),
    "triggers": Example(query={"app": "sandbox"}),
}
GET_EXAMPLES = {
    "components": Example(),
    "actions": Example(query={"version": "0.0.1"}),
    "triggers": Example(path={"component_id": "sandbox-new-task"}),
}


def index(noun: Noun, call: Call) -> Response:
    """The highest release of each, by name."""
    query = call.query(ComponentList)
    kind = noun.kind or query.component_type
    app = apps.slug_of(call.service, query.app) if query.app else None
    component_filter = ComponentFilter.of(query.q, app, kind, query.registry or "all")
    page = call.service.catalog.components(component_filter, query.window, query.connected)
    if not query.extensions:
        return answer_page(page, to_json)
    tags = call.service.catalog.tags([component.key for component in page.items])
    return answer_page(page, lambda component: _with_extensions(component, {"tag": tags.get(component.key)}))


def show(noun: Noun, call: Call) -> Response:
    """One of them, in its highest release or the version that is named."""
    version = call.query(Version).version or None
    component = component_requests.find(call.service, call.path["component_id"], version, noun.kind)
    if not call.query(Version).extensions:
        return answer({"data": to_json(component)})
    origin = uses.of_component(call.store, component)
    check = checked.of_component(component)
    extensions = {
        "tag": call.service.catalog.tags([component.key]).get(component.key),
        "piece": origin and origin.to_json(),
        "checked": check is not None,
        "checked_against": check and check.against,
        "described_on": check and check.of,
    }
    return answer({"data": _with_extensions(component, extensions)})


def _with_extensions(component: ComponentInfo, extensions: dict[str, Any]) -> orjson.Fragment:
    return orjson.Fragment(component.json.removesuffix(b"}") + b',"patchbay":' + orjson.dumps(extensions) + b"}")


def to_json(component: ComponentInfo) -> orjson.Fragment:
    """A component as the API shows it."""
    return orjson.Fragment(component.json)


def configure(noun: Noun, call: Call) -> Response:
    """List the options of a prop."""
    body = call.body(ConfigureCall)
    request = _request(call, noun, body)
    prop = request.component.prop_aliases.get(body.prop_name) or body.prop_name
    options_query = OptionsQuery(prop, body.page or 0, body.query or None, body.prev_context or {})
    return answer(components.configure(call.service, request, options_query))


def reload(noun: Noun, call: Call) -> Response:
    """The props of a component whose props depend on the values so far."""
    return answer(components.reload(call.service, _request(call, noun, call.body(ComponentCall))))


def run(call: Call) -> Response:
    """Run an action."""
    body = call.body(RunCall)
    stash_id = file_stash.checked_stash_id(body.stash_id)
    return answer(components.run(call.service, replace(_request(call, ACTIONS, body), stash_id=stash_id)))


def _request(call: Call, noun: Noun, body: ComponentCall) -> ComponentRequest:
    """The request of the body, after a check that the caller may act for its user and on this kind of component."""
    external_id = call.caller.user_filter(body.external_user_id) or body.external_user_id
    component = component_requests.find(call.service, body.id, body.version or None, noun.kind)
    call.caller.require(token_scopes.ACTIONS if component.kind == "action" else token_scopes.TRIGGERS)
    added = component_requests.reloaded(call.service, call.scene, external_id, component, body.dynamic_props_id)
    return ComponentRequest(
        scene=call.scene,
        external_id=external_id,
        component=component,
        configured=component_requests.by_own_names(component, body.configured_props or {}, added),
        dynamic_props_id=body.dynamic_props_id or None,
    )


ACCOUNT = {"account": {"authProvisionId": "$ACCOUNT_ID"}}
CREATE_TASK = {"id": "sandbox-create-task", "external_user_id": USER}
NEW_TASK = {"id": "sandbox-new-task", "external_user_id": USER, "configured_props": ACCOUNT}
LIST_PROJECTS = {"id": "sandbox-list-projects", "external_user_id": USER, "configured_props": ACCOUNT}
CONFIGURE = {**CREATE_TASK, "prop_name": "project_id", "configured_props": ACCOUNT}
RELOAD = {**CREATE_TASK, "configured_props": {**ACCOUNT, "project_id": "prj_001"}}


def _call_operations(noun: Noun) -> Operations:
    declared = Operations(noun.group)
    declared.post(
        f"P/{noun.path}/configure",
        answer=Options,
        scopes=noun.scopes,
        body=ConfigureCall,
        limit="executions",
        example=Example(body={**NEW_TASK, "prop_name": "project_id"} if noun is TRIGGERS else CONFIGURE),
        name=f"configure_{noun.singular}",
    )(partial(configure, noun))
    declared.post(
        f"P/{noun.path}/props",
        answer=ReloadedProps,
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
        answer=Outcome,
        scopes=(token_scopes.ACTIONS,),
        body=RunCall,
        limit="executions",
        example=Example(body=LIST_PROJECTS),
        name=f"run_{noun.singular}",
    )(run)
    return declared


def _list_operations(noun: Noun) -> Operations:
    declared = Operations(noun.group, COMPONENT_ID)
    declared.get(
        f"P/{noun.path}",
        answer=Page[ListedComponent],
        scopes=READ,
        query=ComponentList,
        limit="tools",
        example=LIST_EXAMPLES[noun.path],
        name=f"list_{noun.path}",
    )(partial(index, noun))
    declared.get(
        f"P/{noun.path}/<component:component_id>",
        answer=Data[ComponentDetails],
        scopes=READ,
        query=Version,
        limit="tools",
        example=GET_EXAMPLES[noun.path],
        name=f"get_{noun.singular}",
    )(partial(show, noun))
    return declared


operations = [
    *(operation for noun in NOUNS for operation in _list_operations(noun)),
    *(operation for noun in NOUNS for operation in _call_operations(noun)),
    *_run_operation(ACTIONS),
    *_run_operation(COMPONENTS),
]
