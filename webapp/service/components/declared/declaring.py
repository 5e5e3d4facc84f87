"""What a declared component is, checked and ready: its form, its props, and everything that is wrong with its file."""

import functools
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webapp.service.components import checker, loader
from webapp.service.components.declared import source
from webapp.service.components.declared.form import ActionForm, PropForm
from webapp.service.components.declared.request_form import Lookup
from webapp.service.components.declared.source import Place, Source
from webapp.service.components.declared.trigger_form import TriggerForm
from webapp.service.components.errors import LoadError
from webapp.service.components.props import Option, Options, Prop

_TIMER, _HTTP, _DB = "$.interface.timer", "$.interface.http", "$.service.db"
_TAGS = ("(list)", "(request)")  # steps of pydantic's own in the place of an error
_OWN = {
    "app": "app", "content": "content", "alert_type": "alertType", "app_prop": "appProp", "base_prop": "baseIdProp",
    "table_prop": "tableIdProp", "event_names": "eventNames", "custom_response": "customResponse",
    "access_mode": "accessMode", "sync": "sync", "static": "static", "choices": "options",
}  # fmt: skip
_COMMON = (
    "label", "description", "optional", "disabled", "read_only", "hidden", "reload_props", "use_query", "with_label",
    "secret", "format", "min", "max", "default",
)  # fmt: skip
_HINTS: Mapping[str, tuple[bool, bool, bool]] = {  # read-only, destructive, idempotent
    "reads": (True, False, True),
    "creates": (False, False, False),
    "sets": (False, False, True),
    "overwrites": (False, True, True),
    "spends": (False, True, False),
}


@dataclass(frozen=True)
class Declared:
    """A component that may be called. ``props`` are its own, by name."""

    form: ActionForm | TriggerForm
    props: Mapping[str, Prop]
    files: tuple[Path, ...] = field(repr=False)

    @functools.cached_property
    def patterns(self) -> tuple[tuple[str, re.Pattern[str], str], ...]:
        """The props whose text has to match something, and the advice where it does not."""
        props = self.form.props.items()
        return tuple((name, re.compile(fields.pattern), fields.advice) for name, fields in props if fields.pattern)


def component(path: Path) -> Declared:
    """The component at ``path``, read again only where one of its files has changed. Raises :class:`LoadError`."""
    known = _KNOWN.get(path)
    if known is not None and known[0] == _stamp(known[1].files):
        return known[1]
    source_ = source.read(path)
    declared, problems = _examined(source_)
    if declared is None:
        raise LoadError(f"The file {path.name} does not declare a component: {problems[0]}")
    _KNOWN[path] = (_stamp(declared.files), declared)
    return declared


_KNOWN: dict[Path, tuple[tuple[int, ...], Declared]] = {}


def examine(path: Path) -> tuple[dict[str, Any] | None, list[str]]:
    """What the file at ``path`` declares, as the catalog keeps it, and every problem as ``line 3: sentence``."""
    try:
        declared, problems = _examined(source.read(path))
    except LoadError as error:
        return None, [str(error)]
    return (declaration(declared) if declared else None), problems


def declaration(declared: Declared) -> dict[str, Any]:
    """As :func:`webapp.service.components.loader.declaration` has it for those that are code."""
    form = declared.form
    kind: dict[str, Any] = {"kind": "source", "annotations": {}, "dedupe": None, "hooks": [], "stash": None}
    if isinstance(form, TriggerForm):
        kind |= {"dedupe": form.dedupe, "hooks": ["deploy"] if form.poll else ["activate", "deactivate"]}
    else:
        hints = dict(zip(checker.ANNOTATIONS, (*_HINTS[form.hints], True), strict=True))
        kind |= {"kind": "action", "annotations": hints | dict(form.annotations)}
        kind |= {"stash": "optional" if form.file else None}
    return {
        **kind,
        "name": form.name,
        "description": form.description,
        "app": next((prop.own["app"] for prop in declared.props.values() if prop.type == "app"), None),
        "configurable_props": loader.to_json(declared.props),
        "has_reload": form.reload is not None,
    }


def prop(form: PropForm) -> Prop:
    """A prop as components in code have it."""
    own = {wire: getattr(form, name) for name, wire in _OWN.items() if getattr(form, name) is not None}
    own = {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}
    common = {name: getattr(form, name) for name in _COMMON if name in form.model_fields_set}
    return Prop(form.type, **common, options=_options(form.options), own=own)


def _options(options: Any) -> Any:
    if isinstance(options, Lookup):
        return _remote
    if options is None:
        return None
    return [option if isinstance(option, str | int) else Option(option.label, option.value) for option in options]


def _remote(_: Any) -> Options:
    """Stands for options that a request finds."""
    raise NotImplementedError


def _examined(read: Source) -> tuple[Declared | None, list[str]]:
    names = [name for name in read.fields.get("props", {}) if isinstance(name, str)]
    try:
        model = TriggerForm if _is_trigger(read) else ActionForm
        form = model.model_validate(read.fields, context={"props": names})
    except ValidationError as error:
        return None, sorted(_sentences(read, error), key=_line)
    props = {name: prop(fields) for name, fields in form.props.items()}
    declared = Declared(form, props, read.files)
    problems = [(place, sentence) for place, sentence in _problems(declared)]
    return (None if problems else declared), sorted((_told(read, *problem) for problem in problems), key=_line)


def _is_trigger(read: Source) -> bool:
    """By its folder; outside any app, by what it says."""
    kinds = [folder.name for folder in read.path.parents if folder.name in source.KINDS]
    return kinds[0] == "triggers" if kinds else not {"poll", "webhook"}.isdisjoint(read.fields)


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


def _problems(declared: Declared) -> Iterator[tuple[Place, str]]:
    """What is wrong between the parts of a form whose shape is right."""
    form = declared.form
    for name, sentence in checker.prop_problems(declared.props, polls=isinstance(form, TriggerForm)):
        yield ("props", name), f"it {sentence}"
    reloads = any(prop.reload_props for prop in declared.props.values())
    if reloads != (form.reload is not None):
        yield ("reload",), "a prop with reload_props = true and [reload] belong together."
    yield from _by_kind(declared)
    has_account = any(prop.type == "app" for prop in declared.props.values())
    for place, request in requests(form):
        if not all(url.startswith(("/", "https://", "{")) for url in request.url):
            yield (*place, "url"), "it begins with / or https://, or with a hole that holds a whole address."
        elif any(url.startswith("/") for url in request.url) and not has_account:
            yield (*place, "url"), "it begins with /, but there is no prop of type app whose base URL it could follow."


def _by_kind(declared: Declared) -> Iterator[tuple[Place, str]]:
    form, types = declared.form, [prop.type for prop in declared.props.values()]
    if isinstance(form, ActionForm):
        if unknown := [name for name in form.annotations if name not in checker.ANNOTATIONS]:
            yield ("annotations",), f"nobody knows {', '.join(unknown)}."
        return
    section, needed = ("poll", _TIMER) if form.poll else ("webhook", _HTTP)
    for type_ in (needed, _DB):
        if types.count(type_) != 1:
            yield (section,), f"a trigger with [{section}] needs one prop of the type {type_}."


def requests(form: ActionForm | TriggerForm) -> Iterator[tuple[Place, Any]]:
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


def _stamp(files: tuple[Path, ...]) -> tuple[int, ...]:
    try:
        return tuple(stamp for file in files for stamp in _mark(file.stat()))
    except OSError:
        return ()


def _mark(status: os.stat_result) -> tuple[int, int]:
    return status.st_mtime_ns, status.st_size
