"""Checks component files and describes their problems in sentences for the author.

:func:`check` has a runner load the file, because loading executes it; :func:`problems` checks the loaded class.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from webapp.service.components.authoring import Action, Component, Trigger
from webapp.service.components.calls import Call, Reply
from webapp.service.components.declared.source import ENDING, name_of
from webapp.service.components.loader import props_of
from webapp.service.components.props import Prop

ANNOTATIONS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
SPENDS = "spendsHint"  # cannot be undone, though it deletes nothing
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PROP = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_DEFAULTS: dict[str, type | tuple[type, ...]] = {
    "string": str, "string[]": list, "integer": int, "integer[]": list, "boolean": bool, "object": dict, "sql": dict,
    "http_request": dict, "$.interface.timer": dict,
}  # fmt: skip
_TIMER, _HTTP, _APPHOOK, _DB = "$.interface.timer", "$.interface.http", "$.interface.apphook", "$.service.db"
_CRON_FIELDS = 5
# Fields that name another prop of the same component.
_POINTERS = ("appProp", "baseIdProp", "tableIdProp")
_SELF_EXPLAINING = ("app", "alert")


def check(path: Path, declare: Callable[[Call], Reply]) -> list[str]:
    """Return the problems of the file at ``path``, each as ``path: sentence``. ``declare`` is a runner's ``call``."""
    reply = declare(Call(path=str(path.absolute()), method="declare"))
    sentences = [f"it cannot be loaded. {reply.error.message}"] if reply.error else reply.value["problems"]
    return [f"{path.parent.name}/{path.name}: {sentence}" for sentence in (*_names(path), *sentences)]


def problems(component: type[Component]) -> list[str]:
    """Return the problems of a loaded component as sentences."""
    props = props_of(component)
    sentences = [*_facts(component), *_annotations(component), *_emitter(component, props)]
    polls = issubclass(component, Trigger)
    sentences += [f"the prop {name} {sentence}" for name, sentence in prop_problems(props, polls=polls)]
    sentences += [sentence for _, sentence in alias_problems(component.aliases, props)]
    reloads = any(prop.reload_props for prop in props.values())
    if component.reload is not Component.reload and not reloads:
        sentences.append("it has reload(), but no prop says reload_props=True, so that nothing would call it.")
    if component.reload is Component.reload and reloads:
        sentences.append("a prop says reload_props=True, but there is no reload() to call.")
    return sentences


def prop_problems(props: Mapping[str, Prop], *, polls: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the problems of ``props``: the name of a prop and a sentence whose subject is that prop.

    ``polls`` says that they belong to a trigger that polls.
    """
    for name, prop in props.items():
        timed = _timer(prop) if polls and prop.type == _TIMER else ()
        yield from ((name, sentence) for sentence in (*_prop(name, prop), *_pointers(prop, props), *timed))


def alias_problems(aliases: Iterable[str], props: Mapping[str, Prop]) -> Iterator[tuple[str, str]]:
    """Yield the problems of aliases as sentences: of the component's (by "") and of its props' (by their names)."""
    for alias in aliases:
        if not NAME.fullmatch(alias):
            yield "", f"the alias {alias} must be written in lower case with hyphens, such as create-task."
    taken = {name: name for name in props}
    for name, prop in props.items():
        for alias in prop.aliases:
            holder = taken.setdefault(alias, name)
            if holder != name or alias == name:
                yield name, f"the alias {alias} is a name of the prop {holder} already."
            elif not PROP.fullmatch(alias):
                yield name, f"the alias {alias} must be of letters, digits and underscores, beginning with a letter."


def _names(path: Path) -> Iterator[str]:
    if path.suffix == ENDING:
        if not NAME.fullmatch(name_of(path)):
            yield "it must be named in lower case with hyphens, such as create-task.toml."
        return
    if not _VERSION.fullmatch(path.stem):
        yield "the file must be named by its version, such as 1.0.0.py."
    if not NAME.fullmatch(path.parent.name):
        yield "its folder must be named in lower case with hyphens, such as create-task."


def _facts(component: type[Component]) -> Iterator[str]:
    if not component.name:
        yield 'say what it is called: name = "Create task".'
    if not component.description:
        yield "say what it does: description, one or two sentences."
    if component.run is Component.run:
        yield "it has no run()."
    if issubclass(component, Action) and component.stash not in (None, "optional"):
        yield 'stash must be "optional" or None.'
    if issubclass(component, Trigger) and component.dedupe not in (None, "unique", "greatest", "last"):
        yield "dedupe must be unique, greatest, last or None."


def _annotations(component: type[Component]) -> Iterator[str]:
    if not issubclass(component, Action):
        return
    annotations = component.annotations
    missing = [annotation for annotation in ANNOTATIONS if not isinstance(annotations.get(annotation), bool)]
    if missing:
        yield f"annotations must say {', '.join(missing)}, each True or False."
    if unknown := [annotation for annotation in annotations if annotation not in (*ANNOTATIONS, SPENDS, "title")]:
        yield f"annotations has {', '.join(unknown)}, which nobody knows."


def _emitter(component: type[Component], props: Mapping[str, Prop]) -> Iterator[str]:
    """A trigger needs exactly one source of events: a timer, an endpoint of its own, or its app."""
    if not issubclass(component, Trigger):
        return
    types = [prop.type for prop in props.values()]
    if not component.native and not any(kind in types for kind in (_TIMER, _HTTP, _APPHOOK)):
        yield "nothing would start it: it needs timer = timer(...) to poll, or http = http_interface() to be notified."
    for kind, made_by in ((_TIMER, "timer()"), (_HTTP, "http_interface()"), (_DB, "service_db()")):
        if types.count(kind) > 1:
            yield f"it has {types.count(kind)} props of {made_by}; one is all that it may have."
    if component.activate is not Trigger.activate and _HTTP in types and component.deactivate is Trigger.deactivate:
        yield "it has activate(), but no deactivate() to undo what that does at the app."


def _timer(prop: Prop) -> Iterator[str]:
    """A polling trigger needs an interval of its own for callers who give none."""
    schedule = prop.own.get("static") or prop.default
    if not isinstance(schedule, dict):
        yield 'needs a default, such as timer(default={"intervalSeconds": 900}).'
        return
    seconds, cron = schedule.get("intervalSeconds"), schedule.get("cron")
    if "intervalSeconds" in schedule and (type(seconds) is not int or seconds < 1):
        yield "has an intervalSeconds that is not a whole number of seconds, from 1 on."
    if "cron" in schedule and not (isinstance(cron, str) and len(cron.split()) == _CRON_FIELDS):
        yield 'has a cron that is not of five fields, such as "0 9 * * 1-5".'
    if ("intervalSeconds" in schedule) == ("cron" in schedule):
        yield "must have either intervalSeconds or cron in its default."


def _prop(name: str, prop: Prop) -> Iterator[str]:
    if not PROP.fullmatch(name):
        yield "must be named by letters, digits and underscores, beginning with a letter."
    if not prop.label and prop.type not in _SELF_EXPLAINING and not prop.type.startswith(("$.interface", "$.service")):
        yield "needs a label."
    if prop.use_query and prop.find_options is None:
        yield "says use_query, but has no function as options that could use a query."
    if prop.static_options == ():
        yield "offers an empty list of options."
    if prop.min is not None and prop.max is not None and prop.min > prop.max:
        yield "has a min above its max."
    if prop.secret and prop.default is not None:
        yield "is secret and must have no default."
    yield from _default(prop)


def _default(prop: Prop) -> Iterator[str]:
    type_ = _DEFAULTS.get(prop.type)
    if prop.default is None or type_ is None:
        return
    if not isinstance(prop.default, type_) or (type_ is int and isinstance(prop.default, bool)):
        yield f"has a default that is not of its type, {prop.type}."
        return
    offered = [option.value for option in prop.static_options or ()]
    chosen = prop.default if isinstance(prop.default, list) else [prop.default]
    if offered and any(value not in offered for value in chosen):
        yield "has a default that is not among its options."


def _pointers(prop: Prop, props: Mapping[str, Prop]) -> Iterator[str]:
    for field in _POINTERS:
        if field in prop.own and prop.own[field] not in props:
            yield f"points by {field} to {prop.own[field]}, which is no prop of this component."
