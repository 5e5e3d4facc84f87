"""What a declared component is, checked and ready: its form, its props, and what the catalog keeps of it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from webapp.service.components import checker, loader
from webapp.service.components.declared import problems, source
from webapp.service.components.declared.form import OF_TRIGGERS, ActionForm, AppHook, Lookup, PropForm, TriggerForm
from webapp.service.components.declared.patterns import Pattern
from webapp.service.components.declared.problems import APPHOOK
from webapp.service.components.declared.source import Mark, Source
from webapp.service.components.errors import LoadError
from webapp.service.components.props import Option, Options, Prop

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
    """A component that may be called. ``props`` are its own, by name; ``marks`` are those of the files that it is read
    from."""

    form: ActionForm | TriggerForm
    props: Mapping[str, Prop]
    marks: Mapping[Path, Mark] = field(repr=False)

    @functools.cached_property
    def patterns(self) -> tuple[tuple[str, Pattern, str], ...]:
        """The props whose text has to match something, and the advice where it does not."""
        props = self.form.props.items()
        return tuple((name, Pattern(fields.pattern), fields.advice) for name, fields in props if fields.pattern)


def component(path: Path) -> Declared:
    """The component at ``path``, read again only where one of its files has changed. Raises :class:`LoadError`."""
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
    """What the file at ``path`` declares, as the catalog keeps it, and every problem as ``line 3: sentence``."""
    try:
        declared, sentences = _examined(source.read(path))
    except LoadError as error:
        return None, [str(error)]
    return (declaration(declared) if declared else None), sentences


def declaration(declared: Declared) -> dict[str, Any]:
    """As :func:`webapp.service.components.loader.declaration` has it for those that are code."""
    form = declared.form
    kind: dict[str, Any] = {"kind": "source", "annotations": {}, "dedupe": None, "hooks": [], "stash": None}
    if isinstance(form, TriggerForm):
        kind |= {"dedupe": form.dedupe, "hooks": _hooks(form)}
    else:
        hints = dict(zip(checker.ANNOTATIONS, (*_HINTS[form.hints], True), strict=True))
        hints |= {checker.SPENDS: True} if form.hints == "spends" else {}
        kind |= {"kind": "action", "annotations": hints | dict(form.annotations)}
        kind |= {"stash": "optional" if form.file else None}
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
    """The methods that it has beside ``run``."""
    hooks = ["deploy"] if form.poll else []
    if form.subscription is not None:
        hooks += ["activate", "deactivate", *(["renew"] if form.subscription.lasts else [])]
    return hooks


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
    fields = read.fields.get("props")
    names = list(fields) if isinstance(fields, dict) else []
    model, without = (TriggerForm, ()) if _is_trigger(read) else (ActionForm, OF_TRIGGERS)
    try:
        form = model.model_validate(read.fields, context={"props": names, "without": without})
    except ValidationError as error:
        return None, problems.of_form(read, error)
    props = {name: prop(fields) for name, fields in form.props.items()}
    if isinstance(form, TriggerForm) and form.apphook is not None:
        props = _hearing(props, form.apphook)
    declared = Declared(form, props, read.marks)
    sentences = problems.between_parts(read, form, declared.props)
    return (None if sentences else declared), sentences


def _hearing(props: Mapping[str, Prop], apphook: AppHook) -> dict[str, Prop]:
    """``props`` with what the prop for events is to hear, and with whose account."""
    account = next((name for name, each in props.items() if each.type == "app"), None)
    own = {"appProp": account, "eventNames": list(apphook.events)}
    return {name: replace(each, own=own) if each.type == APPHOOK else each for name, each in props.items()}


def _is_trigger(read: Source) -> bool:
    """By its folder; outside any app, by what it says."""
    kinds = [folder.name for folder in read.path.parents if folder.name in source.KINDS]
    return kinds[0] == "triggers" if kinds else not {"poll", "webhook", "apphook"}.isdisjoint(read.fields)
