"""The process of one call: it loads the component, calls one method, reports the outcome and exits.

It writes messages to a pipe as they arise (``log``, ``export``, ``emit``, ``set``) and finally ``value`` or ``error``.
Its output goes through a second pipe, its HTTP requests over a socket to the :mod:`broker`. However it ends, no other
call is affected.
"""

import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import orjson

from webapp.service.components import limits, process_tree
from webapp.service.components.authoring import Component
from webapp.service.components.brokered_http import BrokerLine
from webapp.service.components.checker import problems
from webapp.service.components.child_calls import ChildCall
from webapp.service.components.child_pipes import BROKER, MESSAGES, Pipes, received, set_up
from webapp.service.components.confinement import readable_paths
from webapp.service.components.confinement.confinement import Confinement
from webapp.service.components.confinement.places import Place
from webapp.service.components.context import Context
from webapp.service.components.errors import ComponentError, ResultError, describe
from webapp.service.components.loader import declaration, load, props_of, to_json
from webapp.service.components.options import Options
from webapp.service.components.props import Prop
from webapp.service.components.wire import frame

_OUT_OF_MEMORY = orjson.dumps(
    {"error": {"kind": "memory", "name": "MemoryError", "message": (
        f"The component needed more than {limits.MEMORY_BYTES // 2**20} MiB of memory, so it was stopped. "
        "Ask for less at once."
    )}}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of one call: its ``place``, the pid of the runner, and its confinement.

    With ``relay``, its broker may open connections for it.
    """

    place: Place
    runner: int
    confinement: Confinement
    relay: bool


def run(pipes: Pipes, surroundings: Surroundings) -> NoReturn:
    """Receive one call from ``pipes``, make it, and exit."""
    code = 70
    try:
        process_tree.die_with_parent(surroundings.runner)
        confinement, relay = surroundings.confinement, surroundings.relay
        restriction = confinement.restriction(None, surroundings.place.folder, relay=relay)
        set_up(pipes, surroundings.place.folder, restriction)
        limits.limit_memory_and_files()
        confinement.change_user(surroundings.place.number, relay=relay)
        process_tree.die_with_parent(surroundings.runner)  # the kernel clears the setting when the user changes
        call = ChildCall.from_json(orjson.loads(received()))
        limits.limit_cpu_time(call.deadline_s)
        if restriction is not None:
            restriction.extend(readable_paths.of_component(Path(call.path)))
        confinement.seal(restriction, relay=relay)
        _answer(call)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _answer(call: ChildCall) -> None:
    message: bytes | None = None
    try:
        message = _last_message(call)
    except MemoryError:
        limits.spare_memory()  # the frames that held the memory are freed by the next line
    _send_bytes(message or _OUT_OF_MEMORY)
    _flush()


def _last_message(call: ChildCall) -> bytes:
    """The final message as JSON: the value, or the error."""
    try:
        return _encoded("its result", {"value": _perform(call)})
    except MemoryError:
        raise
    except BaseException as error:
        return orjson.dumps({"error": describe(error, Path(call.path))})


def _perform(call: ChildCall) -> Any:
    component_type = load(Path(call.path))
    if call.method == "declare":
        return {**declaration(component_type), "problems": problems(component_type)}
    component, declared = component_type(), props_of(component_type)
    ctx = Context(call, declared, BrokerLine(BROKER), _send)
    if call.method == "options":
        return _options(component, declared, call.prop or "", ctx)
    if call.method == "reload":
        return to_json(_reloaded(component, declared, ctx))
    method: Callable[[Context], Any] = getattr(component, call.method)
    result = method(ctx)
    if call.stash:
        ctx.files.hand_over(lambda message: _send_bytes(orjson.dumps(message)), ctx.log)
    return result


def _options(component: Component, declared: Mapping[str, Prop], name: str, ctx: Context) -> dict[str, Any]:
    prop = declared.get(name) or _reloaded(component, declared, ctx).get(name)
    find = prop.find_options if prop else None
    if find is None:
        raise ComponentError(f"The prop {name} has no options to look up.")
    options = find(ctx)
    if not isinstance(options, Options):
        raise ResultError(f"The options of {name} must come as Options([...]), not as {type(options).__name__}.")
    return options.to_json(name)


def _reloaded(component: Component, declared: Mapping[str, Prop], ctx: Context) -> dict[str, Prop]:
    added = component.reload(ctx)
    if not isinstance(added, Mapping) or not all(isinstance(prop, Prop) for prop in added.values()):
        raise ResultError("reload() must return props by their names.")
    return {**declared, **added}


def _encoded(what: str, message: Mapping[str, Any]) -> bytes:
    try:
        payload = orjson.dumps(message)
    except TypeError as error:
        raise ResultError(f"The component gave {what} as something that JSON cannot carry ({error}).") from None
    if len(payload) > limits.OUTPUT_BYTES:
        raise ResultError(f"The component gave {what} with {len(payload):,} bytes, which is too much. Ask for less.")
    return payload


_one_at_a_time = threading.Lock()


def _send(message: dict[str, Any]) -> None:
    """Send ``message`` at once. Raises :class:`ResultError`."""
    what = next((f"{verb} {message[verb]}" for verb in ("export", "set") if verb in message), "an event")
    _send_bytes(_encoded(what, message))


def _send_bytes(payload: bytes) -> None:
    rest = memoryview(frame(payload))
    with _one_at_a_time:
        while rest:
            rest = rest[os.write(MESSAGES, rest) :]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
