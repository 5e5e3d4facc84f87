"""Describes the problems of a declared component's file in sentences for its author, with their lines."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from webapp.kit.networks import LOOPBACK_NAMES
from webapp.service.components import checker
from webapp.service.components.declared.form import ActionForm, Lookup, Step, TriggerForm
from webapp.service.components.declared.source import Source
from webapp.service.components.props import Prop

Place = tuple[str | int, ...]
"""The names and numbers that lead to a member of a file."""
_TIMER, _HTTP, _DB = "$.interface.timer", "$.interface.http", "$.service.db"
APPHOOK = "$.interface.apphook"
_NEEDED = {"poll": (_TIMER, _DB), "webhook": (_HTTP, _DB), "apphook": (APPHOOK, "app")}
_LOOPBACK = tuple(  # this machine's own services
    f"http://{f'[{name}]' if ':' in name else name}{end}" for name in LOOPBACK_NAMES for end in (":", "/")
)
_HEADER = re.compile(r"\s*(\[\[?)([^\]]+)\]\]?\s*(?:#.*)?$")
_MEMBER = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_KEY = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_TAGS = ("(list)", "(request)")  # steps of pydantic's own in the place of an error


def of_form(read: Source, error: ValidationError) -> list[str]:
    """Return the problems of the file's structure."""
    return sorted(_sentences(read, error), key=_line)


def between_parts(read: Source, form: ActionForm | TriggerForm, props: Mapping[str, Prop]) -> list[str]:
    """Return the contradictions between parts of a structurally valid ``form``."""
    return sorted((_with_line(read, *problem) for problem in _problems(form, props)), key=_line)


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
        yield _with_line(read, place, f"{message if message[1:2].isupper() else message[:1].lower() + message[1:]}.")


def _with_line(read: Source, place: Place, sentence: str) -> str:
    shown = ".".join(str(step) for step in place)
    return f"line {line_of(read.text, place)}: {shown + ': ' if shown else ''}{sentence}"


def line_of(text: str, place: Place) -> int:
    """The line in ``text`` of the member at ``place``, or of the innermost table around it."""
    lines = dict(_lines(text))
    around = (place[:end] for end in range(len(place), 0, -1))
    return next((lines[part] for part in around if part in lines), 1)


def _line(problem: str) -> int:
    return int(problem.removeprefix("line ").partition(":")[0])


def _problems(form: ActionForm | TriggerForm, props: Mapping[str, Prop]) -> Iterator[tuple[Place, str]]:
    for name, sentence in checker.prop_problems(props, polls=isinstance(form, TriggerForm)):
        yield ("props", name), f"it {sentence}"
    for name, sentence in checker.alias_problems(form.aliases, props):
        yield (("props", name, "aliases") if name else ("aliases",)), sentence
    reloads = any(prop.reload_props for prop in props.values())
    if reloads != (form.reload is not None):
        yield ("reload",), "a prop with reload_props = true and [reload] belong together."
    yield from _by_kind(form, [prop.type for prop in props.values()])
    accounts = [name for name, prop in props.items() if prop.type == "app"]
    for name in accounts[1:]:
        yield ("props", name), f"the prop {accounts[0]} has the type app already; there is one account."
    for place, request in _requests(form):
        if not all(url.startswith(("/", "https://", "{", *_LOOPBACK)) for url in request.url):
            yield (*place, "url"), "it begins with / or https://, or with a hole that holds a whole address."
        elif any(url.startswith("/") for url in request.url) and not accounts:
            yield (*place, "url"), "it begins with /, but there is no prop of type app whose base URL it could follow."


def _by_kind(form: ActionForm | TriggerForm, types: list[str]) -> Iterator[tuple[Place, str]]:
    if isinstance(form, ActionForm):
        if unknown := [name for name in form.annotations if name not in (*checker.ANNOTATIONS, checker.SPENDS)]:
            yield ("annotations",), f"nobody knows {', '.join(unknown)}."
        return
    section = next(name for name in _NEEDED if getattr(form, name) is not None)
    if form.webhook is not None and form.webhook.challenge is not None and not form.answers:
        yield ("webhook", "challenge"), "the prop for requests needs custom_response = true to answer it."
    needed = [(section, type_) for type_ in _NEEDED[section]] + ([("push", _HTTP)] if form.push is not None else [])
    needed += [("poll", type_) for type_ in _NEEDED["apphook"]] if form.poll is not None and form.poll.events else []
    for section, type_ in needed:
        if types.count(type_) != 1:
            yield (section,), f"a trigger with [{section}] needs one prop of the type {type_}."
    if APPHOOK in types and form.event_names is None:
        yield ("props",), f"a prop of the type {APPHOOK} belongs to [apphook], or to events in [poll]."


def _requests(form: ActionForm | TriggerForm) -> Iterator[tuple[Place, Any]]:
    """Yield all requests of a component and their places."""
    if isinstance(form, ActionForm):
        yield ("request",), form.request
        yield from _steps((), form.steps)
    else:
        yield from _requests_of_trigger(form)
    if form.reload is not None:
        yield ("reload",), form.reload
        yield from _steps(("reload",), form.reload.steps)
    for name, fields in form.props.items():
        if isinstance(fields.options, Lookup):
            place = ("props", name, "options")
            yield place, fields.options
            yield from (*_steps(place, fields.options.steps), *_steps(place, fields.options.after, "after"))


def _requests_of_trigger(form: TriggerForm) -> Iterator[tuple[Place, Any]]:
    if form.poll is not None:
        yield ("poll",), form.poll
        if form.poll.inner is not None:
            yield ("poll", "inner"), form.poll.inner
        yield from _steps(("poll",), form.poll.steps)
    if form.subscription is not None:
        section = "webhook" if form.webhook is not None else "push"
        for name in ("subscribe", "unsubscribe", "existing", "renew"):
            if (request := getattr(form.subscription, name)) is not None:
                yield (section, name), request
        yield from _steps((section,), form.subscription.steps)
    for section, webhook in (("webhook", form.webhook), ("apphook", form.apphook)):
        yield from _steps((section,), webhook.details if webhook else (), "details")


def _steps(place: Place, steps: tuple[Step, ...], name: str = "steps") -> Iterator[tuple[Place, Any]]:
    return (((*place, name, number), step) for number, step in enumerate(steps))


def _lines(text: str) -> Iterator[tuple[Place, int]]:
    """The line of every table and of every member that begins a line. The text is valid TOML."""
    table: Place = ()
    counts: dict[Place, int] = {}
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        header, member = _HEADER.match(lines[number]), _MEMBER.match(lines[number])
        if header and not member:
            table = _names_in(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            yield table, number + 1
        elif member:
            yield (*table, *_names_in(member[1])), number + 1
            number = _end(lines, number, member.end())
        number += 1


def _end(lines: list[str], number: int, start: int) -> int:
    """The last line of the value that begins on line ``number`` at ``start``."""
    value = lines[number][start:]
    while number + 1 < len(lines):
        try:
            tomllib.loads(f"value = {value}")
            return number
        except tomllib.TOMLDecodeError:
            number += 1
            value += f"\n{lines[number]}"
    return number


def _names_in(keys: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in _KEY.findall(keys))
