"""What the models of a declared component are made of: facts, and the kinds of templates that they hold.

What a template may look at depends on where it stands: at props and ``$account`` everywhere; at ``$answer`` once
there is one; at ``$item`` where something is said of each of a list. The context of the validation has the names of the
``props``, and those ``without`` which the component is.
"""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo

from webapp.service.components.declared.templates import parse, texts_in

BEFORE = (
    "$account",
    "$label",
    "$fields",
    "$steps",
    "$values",
    "$query",
    "$since",
    "$endpoint",
    "$secret",
    "$hook",
    "$event",
    "$until",
    "$channel",
)
OF_TRIGGERS = ("$since", "$endpoint", "$secret", "$hook", "$event", "$until", "$channel")
"""What actions do not have."""
AFTER = (*BEFORE, "$answer", "$items", "$file")
EACH = (*AFTER, "$item", "$value")


class Facts(BaseModel):
    """Facts that were read once and never change; a key that is not declared here is a mistake."""

    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


def _checked(allowed: tuple[str, ...]) -> Callable[[Any, ValidationInfo], Any]:
    def check(value: Any, info: ValidationInfo) -> Any:
        context = info.context or {}
        props = context.get("props", ())
        names = tuple(name for name in allowed if name not in context.get("without", ()))
        for text in texts_in(value):
            for root in parse(text).roots:
                if root not in names and root not in props:
                    raise ValueError(f"{{{root}}} is not known here; there are {', '.join((*props, *names))}")
        return value

    return check


Asking = Annotated[str, AfterValidator(_checked(BEFORE))]
AskingAll = Annotated[Any, AfterValidator(_checked(BEFORE))]
Answered = Annotated[str, AfterValidator(_checked(AFTER))]
AnsweredAll = Annotated[Any, AfterValidator(_checked(AFTER))]
OfEach = Annotated[str, AfterValidator(_checked(EACH))]
OfEachAll = Annotated[Any, AfterValidator(_checked(EACH))]
Params = Annotated[dict[str, Any], AfterValidator(_checked(BEFORE))]


EachParams = Annotated[dict[str, Any], AfterValidator(_checked(EACH))]
AnsweredFields = Annotated[dict[str, Any], AfterValidator(_checked(AFTER))]
