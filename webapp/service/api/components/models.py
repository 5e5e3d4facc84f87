"""Components, their props and calls, and the history of runs."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from webapp.service.api.base.models import DateTime, Milliseconds, Shape

PropType = Literal[
    "app", "alert", "string", "string[]", "integer", "integer[]", "boolean", "object", "any", "sql", "http_request",
    "$.interface.timer", "$.interface.http", "$.interface.apphook", "$.service.db", "data_store", "dir",
    "$.airtable.baseId", "$.airtable.tableId", "$.airtable.viewId", "$.airtable.fieldId", "$.discord.channel",
    "$.discord.channel[]",
]  # fmt: skip


class ConfigurableProp(Shape):
    """A prop: what to ask for. Fields below `options` belong to some types alone."""

    name: str
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


class Annotations(Shape):
    """What calling a component does to the world."""

    title: str
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool


class Component(Shape):
    """An action or a trigger."""

    key: str
    name: str
    version: str
    configurable_props: list[ConfigurableProp]
    description: str
    component_type: Literal["action", "trigger"]
    annotations: Annotations
    stash: str = ""


class ObservedError(Shape):
    """What a component raised."""

    name: str
    message: str
    stack: str = ""


class Observation(Shape):
    """One line of a log: `k` is `log` or `error`."""

    k: str
    ts: Milliseconds
    msg: str = ""
    err: ObservedError | None = None


class Option(Shape):
    """One thing to choose."""

    label: str
    value: str | int | bool


class Options(Shape):
    """What a prop offers. What went wrong in the component stands in `errors` and `observations`."""

    options: list[Option] | None
    stringOptions: list[str] | None
    observations: list[Observation] | None
    context: dict[str, Any] | None
    errors: list[str]


class DynamicProps(Shape):
    """The whole new list of props, and the id by which later calls name it."""

    id: str
    configurableProps: list[ConfigurableProp]


class Reloaded(Shape):
    """The props that follow from the values so far."""

    observations: list[Observation]
    errors: list[str]
    dynamicProps: DynamicProps | None


class Outcome(Shape):
    """What an action did. `exports.$summary` says it in one line; `os` holds the log and any error."""

    exports: dict[str, Any]
    os: list[Observation]
    ret: Any
    stash_id: str = ""


class Run(Shape):
    """A run of an action."""

    id: str
    external_user_id: str
    component_id: str
    component_key: str
    component_version: str
    app: str | None
    started_at: DateTime
    took_ms: int
    ok: bool
    summary: str | None
    error: str | None


class RunDetails(Run):
    """A run with its values and results. What was secret is masked."""

    model_config = ConfigDict(extra="forbid")

    configured_props: dict[str, Any]
    masked_props: Annotated[list[str], Field(description="The props whose values were not kept.")]
    dynamic_props_id: str | None
    exports: dict[str, Any] | None
    os: list[Observation] | None
    ret: Any
    truncated: Annotated[bool, Field(description="The results were too large to be kept.")] = False
