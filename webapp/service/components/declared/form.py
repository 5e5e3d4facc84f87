"""The form of a declared component: the models of ``actions/<name>.toml`` and ``triggers/<name>.toml``.

Shape and templates are checked here, all at once; what must hold between the parts is ``declaring``'s.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from webapp.service.components.declared import patterns
from webapp.service.components.declared.facts import (
    Answered,
    AnsweredAll,
    AnsweredFields,
    Asking,
    Facts,
    OfEachAll,
)
from webapp.service.components.declared.facts import Params as AskedFields
from webapp.service.components.declared.request_form import Listing, Lookup, Reload, Step
from webapp.service.components.props import PropType

Hints = Literal["creates", "deletes", "overwrites", "reads", "sets", "spends"]


class Option(Facts):
    """One thing to choose."""

    label: str
    value: str | int | bool


def _form_of(value: Any) -> str:
    return "(list)" if isinstance(value, list | tuple) else "(request)"


Listed = Annotated[tuple[Option | str | int, ...], Tag("(list)")]
Options = Annotated[Listed | Annotated[Lookup, Tag("(request)")], Discriminator(_form_of)]


class PropForm(Facts):
    """A prop, of any type that the contract knows. ``pattern`` is what a text has to match as a whole, else ``advice``
    is said. ``aliases`` are other names under which its value may be sent."""

    type: PropType
    label: str = ""
    description: str = ""
    optional: bool = False
    disabled: bool = False
    read_only: bool = False
    hidden: bool = False
    reload_props: bool = False
    use_query: bool = False
    with_label: bool = False
    secret: bool = False
    format: str | None = None
    min: int | None = None
    max: int | None = None
    default: Any = None
    options: Options | None = None
    pattern: str | None = None
    advice: str = ""
    aliases: tuple[str, ...] = ()
    app: str | None = None
    content: str | None = None
    alert_type: Literal["info", "neutral", "warning", "error"] | None = None
    app_prop: str | None = None
    base_prop: str | None = None
    table_prop: str | None = None
    event_names: tuple[str, ...] | None = None
    custom_response: bool | None = None
    access_mode: Literal["read", "write", "read-write"] | None = None
    sync: bool | None = None
    static: Any = None
    choices: tuple[Any, ...] | None = None

    @model_validator(mode="after")
    def _advised(self) -> "PropForm":
        patterns.check(self.pattern, self.advice)
        return self


class Failing(Facts):
    """An error in an answer with a good status: the member at ``path`` is ``equals``, or is ``present`` at all."""

    path: str
    equals: Any = False
    present: bool = False


def _listed(failing: Any) -> Any:
    return [failing] if isinstance(failing, Mapping) else failing


class Errors(Facts):
    """How the app tells errors: ``message`` is the path of its own words, ``code`` that of a word for programs.

    ``failing`` may be several, of which one is enough. ``words`` are sentences by that code or by status; ``other`` is
    for the rest.
    """

    message: str = ""
    code: str = ""
    failing: Annotated[tuple[Failing, ...], BeforeValidator(_listed)] = ()
    words: dict[str, Answered] = Field(default_factory=dict)
    other: Answered | None = None


class Refuse(Facts):
    """A reason to go no further: where ``only_if`` is not empty, ``words`` are said instead of a request."""

    only_if: Asking
    words: Asking


class ComponentForm(Facts):
    """What actions and triggers share. ``aliases`` are other names of the file, under which it is called, too."""

    name: Annotated[str, Field(min_length=1)]
    version: Annotated[str, Field(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
    description: Annotated[str, Field(min_length=1)]
    aliases: tuple[str, ...] = ()
    props: dict[str, PropForm] = Field(default_factory=dict)
    reload: Reload | None = None
    errors: Errors | None = None


class ActionForm(ComponentForm):
    """An action: ``steps``, then one ``request``. Without ``result`` that is the answer, or all items of its pages.

    ``values`` are named values between the two, each of which may look at those before it as ``$values``.

    ``hints`` names what running it means; ``annotations`` say otherwise of one of them. ``file`` names the file that
    the answer is kept as. ``each`` is what stands for each ``$item`` of a list in what is returned.
    """

    hints: Hints
    annotations: Mapping[str, bool] = Field(default_factory=dict)
    summary: Answered
    steps: tuple[Step, ...] = ()
    values: AskedFields = Field(default_factory=dict)
    refuse: tuple[Refuse, ...] = ()
    request: Listing
    file: Asking | None = None
    each: OfEachAll = None
    result: AnsweredAll = None
    exports: AnsweredFields = Field(default_factory=dict)
