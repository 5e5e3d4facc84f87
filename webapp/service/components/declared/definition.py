"""Loads declared components: the checked form, the props, and the catalog entry."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webapp.service.components import checker, loader
from webapp.service.components.declared import problems, source
from webapp.service.components.declared.form import TRIGGER_NAMES, ActionForm, Lookup, PropForm, TriggerForm
from webapp.service.components.declared.patterns import Pattern
from webapp.service.components.declared.problems import APPHOOK
from webapp.service.components.declared.source import Mark, Source
from webapp.service.components.errors import LoadError
from webapp.service.components.options import Option, Options
from webapp.service.components.props import Prop, as_json_text

_OWN = {
    "app": "app", "content": "content", "alert_type": "alertType", "app_prop": "appProp", "base_prop": "baseIdProp",
    "table_prop": "tableIdProp", "event_names": "eventNames", "custom_response": "customResponse",
    "access_mode": "accessMode", "sync": "sync", "static": "static", "choices": "options",
}  # fmt: skip
_COMMON = (
    "label", "description", "optional", "disabled", "read_only", "hidden", "reload_props", "use_query", "with_label",
    "secret", "format", "min", "max", "default", "aliases",
)  # fmt: skip
_HINTS: Mapping[str, tuple[bool, bool, bool]] = {  # read-only, destructive, idempotent
    "reads": (True, False, True),
    "creates": (False, False, False),
    "sets": (False, False, True),
    "overwrites": (False, True, True),
    "deletes": (False, True, False),
    "spends": (False, True, False),
}


@dataclass(frozen=True)
class Declared:
    """A valid component. ``props`` are its own, by name; ``marks`` tell whether one of its files has changed."""

    form: ActionForm | TriggerForm
    props: Mapping[str, Prop]
    marks: Mapping[Path, Mark] = field(repr=False)

    @functools.cached_property
    def patterns(self) -> tuple[tuple[str, Pattern, str], ...]:
        """The props with a pattern: the name, the pattern, and the message for a value that does not match."""
        props = self.form.props.items()
        return tuple((name, Pattern(fields.pattern), fields.advice) for name, fields in props if fields.pattern)


def component(path: Path) -> Declared:
    """Load the component at ``path``; the result is cached until one of its files changes.

    Raises :class:`LoadError`.
    """
    known = _KNOWN.get(path)
    if known is not None and all(source.mark_of(file) == mark for file, mark in known.marks.items()):
        return known
    declared, sentences = _examined(source.read(path))
    if declared is None:
        raise LoadError(f"The file {path.name} does not declare a component: {sentences[0]}")
    _KNOWN[path] = declared
    return declared


_KNOWN: dict[Path, Declared] = {}


def examine(path: Path) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the catalog entry that the file at ``path`` declares, and its problems as ``line 3: sentence``."""
    try:
        declared, sentences = _examined(source.read(path))
    except LoadError as error:
        return None, [str(error)]
    return (declaration(declared) if declared else None), sentences


def declaration(declared: Declared) -> dict[str, Any]:
    """The catalog entry, in the form of :func:`webapp.service.components.loader.declaration`."""
    form = declared.form
    kind: dict[str, Any] = {"kind": "source", "annotations": {}, "dedupe": None, "hooks": [], "stash": None}
    if isinstance(form, TriggerForm):
        kind |= {"dedupe": form.dedupe, "hooks": _hooks(form)}
    else:
        hints = dict(zip(checker.ANNOTATIONS, (*_HINTS[form.hints], True), strict=True))
        hints |= {checker.SPENDS: True} if form.hints == "spends" else {}
        kind |= {"kind": "action", "annotations": hints | dict(form.annotations)}
        kind |= {"stash": "optional" if form.gives_files else None, "tag": form.tag}
    return {
        **kind,
        "name": form.name,
        "description": form.description,
        "app": next((prop.own["app"] for prop in declared.props.values() if prop.type == "app"), None),
        "configurable_props": loader.to_json(declared.props),
        "has_reload": form.reload is not None,
        **loader.alias_facts(form.aliases, declared.props),
    }


def _hooks(form: TriggerForm) -> list[str]:
    """The names of its methods other than ``run``."""
    hooks = ["deploy"] if form.poll else []
    if form.subscription is not None:
        hooks += ["activate", "deactivate", *(["renew"] if form.subscription.lasts else [])]
    return hooks


def prop(form: PropForm) -> Prop:
    """The prop as Python components declare it."""
    own = {wire: getattr(form, name) for name, wire in _OWN.items() if getattr(form, name) is not None}
    own = {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}
    common = {name: getattr(form, name) for name in _COMMON if name in form.model_fields_set}
    declared = Prop(form.type, **common, options=_options(form.options), own=own)
    return as_json_text(declared) if form.type == "any" else declared


def _options(options: Any) -> Any:
    if isinstance(options, Lookup):
        return _remote
    if options is None:
        return None
    return [option if isinstance(option, str | int) else Option(option.label, option.value) for option in options]


def _remote(_: Any) -> Options:
    """A placeholder for options that a request finds."""
    raise NotImplementedError


def _examined(read: Source) -> tuple[Declared | None, list[str]]:
    fields = read.fields.get("props")
    names = list(fields) if isinstance(fields, dict) else []
    model, without = (TriggerForm, ()) if _is_trigger(read) else (ActionForm, TRIGGER_NAMES)
    try:
        form = model.model_validate(read.fields, context={"props": names, "without": without})
    except ValidationError as error:
        return None, problems.of_form(read, error)
    props = {name: prop(fields) for name, fields in form.props.items()}
    if isinstance(form, TriggerForm) and form.event_names is not None:
        props = _with_event_names(props, form.event_names, polls=form.poll is not None)
    declared = Declared(form, props, read.marks)
    sentences = problems.between_parts(read, form, declared.props)
    return (None if sentences else declared), sentences


def _with_event_names(props: Mapping[str, Prop], names: tuple[str, ...], *, polls: bool) -> dict[str, Prop]:
    """``props`` with the account and the event names in the prop for app events, and whether they only let it poll."""
    account = next((name for name, each in props.items() if each.type == "app"), None)
    own = {"appProp": account, "eventNames": list(names), **({"polls": True} if polls else {})}
    return {name: replace(each, own=own) if each.type == APPHOOK else each for name, each in props.items()}


def _is_trigger(read: Source) -> bool:
    """Whether it is a trigger, by its folder; outside of an app, by its tables."""
    kinds = [folder.name for folder in read.path.parents if folder.name in source.KINDS]
    return kinds[0] == "triggers" if kinds else not {"poll", "webhook", "apphook"}.isdisjoint(read.fields)
