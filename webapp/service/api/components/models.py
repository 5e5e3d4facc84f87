"""What the API answers about components, their props, the calls of them, and runs."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from webapp.service.api.base.models import Answer, DateTime, Milliseconds, PieceOrigin, Problem
from webapp.service.components.props import PropType


class ConfigurableProp(Answer):
    """A prop: what to ask for. Fields below `options` belong to some types alone."""

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
    remote: bool = False
    static: Any = None
    customResponse: bool = False
    accessMode: str = ""
    sync: bool = False


class Annotations(Answer):
    """What calling a component does to the world. ``spendsHint`` is Patchbay's own: it sends or costs something that
    cannot be taken back, but deletes and overwrites nothing. Absent where that is not so."""

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


class ComponentExtensions(Answer):
    """What is Patchbay's own about a component. `piece` is null unless it was added from npm."""

    piece: PieceOrigin | None


class ComponentDetails(Component):
    """An action or a trigger; `patchbay` is there when `extensions` were asked for."""

    patchbay: ComponentExtensions | None = None


class ObservedError(Answer):
    """What a component raised."""

    name: str = Field(examples=["GitHub"])
    message: str
    stack: str = ""


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
    """What a prop offers. What went wrong in the component stands in `errors` and `observations`."""

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
    """What an action did. `exports.$summary` says it in one line; `os` holds the log and any error."""

    exports: dict[str, Any] = Field(examples=[{"$summary": "Created issue 42"}])
    os: list[Observation] = Field(examples=[[]])
    ret: Any = Field(examples=[{"number": 42}])
    stash_id: str = ""


class Run(Answer):
    """A run of an action."""

    id: str = Field(examples=["run_3Ko9Ei"])
    external_user_id: str = Field(examples=["user-123"])
    component_id: str = Field(examples=["sc_9Dk2Wx"])
    component_key: str = Field(examples=["github-create-issue"])
    component_version: str = Field(examples=["0.0.1"])
    app: str | None = Field(examples=["github"])
    started_at: DateTime
    took_ms: int
    status: Literal["running", "succeeded", "failed", "unknown"] = Field(
        description="`unknown` where Patchbay was stopped in the middle: look whether it did its work."
    )
    ok: bool = Field(description="Whether it has succeeded.")
    summary: str | None = Field(examples=["Created issue 42"])
    error: str | None = Field(examples=[None])
    agent: str | None = Field(None, description="The name of the agent that called it.", examples=["Desk Helper"])


class RunDetails(Run):
    """A run with its values and results. What was secret is masked."""

    model_config = ConfigDict(extra="forbid")

    configured_props: dict[str, Any]
    masked_props: Annotated[list[str], Field(description="The props whose values were not kept.")]
    dynamic_props_id: str | None
    exports: dict[str, Any] | None = Field(examples=[{"$summary": "Created issue 42"}])
    os: list[Observation] | None = Field(examples=[[]])
    ret: Any = Field(examples=[{"number": 42}])
    truncated: bool = Field(False, description="The results were too large to be kept.")
