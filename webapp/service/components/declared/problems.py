"""Everything that is wrong with the file of a declared component, each with its line, as sentences for its author."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from webapp.service.components import checker
from webapp.service.components.declared.form import ActionForm
from webapp.service.components.declared.request_form import Lookup
from webapp.service.components.declared.source import Place, Source
from webapp.service.components.declared.trigger_form import TriggerForm
from webapp.service.components.props import Prop

_TIMER, _HTTP, _DB = "$.interface.timer", "$.interface.http", "$.service.db"
_TAGS = ("(list)", "(request)")  # steps of pydantic's own in the place of an error


def of_form(read: Source, error: ValidationError) -> list[str]:
    """What is wrong with the shape of the file."""
    return sorted(_sentences(read, error), key=_line)


def between_parts(read: Source, form: ActionForm | TriggerForm, props: Mapping[str, Prop]) -> list[str]:
    """What is wrong between the parts of a ``form`` whose shape is right."""
    return sorted((_told(read, *problem) for problem in _problems(form, props)), key=_line)


def _sentences(read: Source, error: ValidationError) -> Iterator[str]:
    for details in error.errors(include_url=False, include_input=False, include_context=False):
        place = tuple(step for step in details["loc"] if step not in _TAGS)
        place = place[:-1] if place[-2:] == ("url", 0) else place
        message = details["msg"].removeprefix("Value error, ")
        if details["type"] == "extra_forbidden":
            used = place[-1] == "use" and len(place) == 3
            message = "shared.toml has no such prop" if used else "nothing is called so here; check its spelling"
        elif details["type"] == "missing":
            message = "it is missing"
        yield _told(read, place, f"{message if message[1:2].isupper() else message[:1].lower() + message[1:]}.")


def _told(read: Source, place: Place, sentence: str) -> str:
    shown = ".".join(str(step) for step in place)
    return f"line {read.line(place)}: {shown + ': ' if shown else ''}{sentence}"


def _line(problem: str) -> int:
    return int(problem.removeprefix("line ").partition(":")[0])


def _problems(form: ActionForm | TriggerForm, props: Mapping[str, Prop]) -> Iterator[tuple[Place, str]]:
    for name, sentence in checker.prop_problems(props, polls=isinstance(form, TriggerForm)):
        yield ("props", name), f"it {sentence}"
    reloads = any(prop.reload_props for prop in props.values())
    if reloads != (form.reload is not None):
        yield ("reload",), "a prop with reload_props = true and [reload] belong together."
    yield from _by_kind(form, [prop.type for prop in props.values()])
    accounts = [name for name, prop in props.items() if prop.type == "app"]
    for name in accounts[1:]:
        yield ("props", name), f"the prop {accounts[0]} has the type app already; there is one account."
    for place, request in _requests(form):
        if not all(url.startswith(("/", "https://", "{")) for url in request.url):
            yield (*place, "url"), "it begins with / or https://, or with a hole that holds a whole address."
        elif any(url.startswith("/") for url in request.url) and not accounts:
            yield (*place, "url"), "it begins with /, but there is no prop of type app whose base URL it could follow."


def _by_kind(form: ActionForm | TriggerForm, types: list[str]) -> Iterator[tuple[Place, str]]:
    if isinstance(form, ActionForm):
        if unknown := [name for name in form.annotations if name not in checker.ANNOTATIONS]:
            yield ("annotations",), f"nobody knows {', '.join(unknown)}."
        return
    section, needed = ("poll", _TIMER) if form.poll else ("webhook", _HTTP)
    for type_ in (needed, _DB):
        if types.count(type_) != 1:
            yield (section,), f"a trigger with [{section}] needs one prop of the type {type_}."


def _requests(form: ActionForm | TriggerForm) -> Iterator[tuple[Place, Any]]:
    """Every request of a component, and where it stands."""
    if isinstance(form, ActionForm):
        yield ("request",), form.request
        yield from ((("steps", number), step) for number, step in enumerate(form.steps))
    elif form.poll is not None:
        yield ("poll",), form.poll
    elif form.webhook is not None:
        for name in ("subscribe", "unsubscribe", "renew"):
            if (request := getattr(form.webhook, name)) is not None:
                yield ("webhook", name), request
    if form.reload is not None:
        yield ("reload",), form.reload
    for name, fields in form.props.items():
        if isinstance(fields.options, Lookup):
            yield ("props", name, "options"), fields.options
