"""The life of one call: a forked process that loads the component, calls one method, tells what came of it, and ends.

What it tells goes through one pipe as messages, as it happens: ``log``, ``export``, ``emit`` and ``set``, and last
``value`` or ``error``. What it prints goes through another. Whatever becomes of it touches nobody else.
"""

import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import orjson

from webapp.service.components import limits
from webapp.service.components.authoring import Component
from webapp.service.components.calls import USER_AGENT, Call
from webapp.service.components.checker import problems
from webapp.service.components.context import Context
from webapp.service.components.errors import ComponentError, HttpError
from webapp.service.components.loader import LoadError, declaration, load, props_of, to_json
from webapp.service.components.props import Option, Options, Prop
from webapp.service.components.wire import frame
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard

_TELL = 3  # the descriptor of the pipe for messages
_DESCRIPTORS = 65_536
_MESSAGE_CHARS, _STACK_CHARS = 2_000, 8_000
_OUT_OF_MEMORY = orjson.dumps(
    {"error": {"kind": "memory", "name": "MemoryError", "message": (
        f"The component needed more than {limits.MEMORY_BYTES // 2**20} MiB of memory, so it was stopped. "
        "Ask for less at once."
    )}}
)  # fmt: skip


class ResultError(ComponentError):
    """A value that JSON cannot carry, or that is too large."""


_KINDS = ((HttpError, "http"), (LoadError, "load"), (ResultError, "result"))


def live(request: bytes, tell: int, prints: int, folder: Path, parent: int) -> NoReturn:
    """Be the process of one call: ``request`` is a Call as JSON, ``tell`` and ``prints`` are pipes to write to."""
    code = 70
    try:
        limits.die_with_parent(parent)
        _settle(tell, prints, folder)
        limits.bind()
        _answer(request)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _settle(tell: int, prints: int, folder: Path) -> None:
    """Keep these descriptors alone, in a session and a folder of its own, with signals as a new process has them."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    tell, prints = _above(tell), _above(prints)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (prints, 1), (prints, 2), (tell, _TELL)):
        os.dup2(source, target, inheritable=target != _TELL)
    os.closerange(_TELL + 1, _DESCRIPTORS)
    sys.stdout = open(1, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115  # lives as long as we do
    sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def _above(descriptor: int) -> int:
    """A copy of ``descriptor`` that none of those we are about to set can overwrite."""
    copy = descriptor
    while copy <= _TELL:
        copy = os.dup(copy)
    return copy


def _answer(request: bytes) -> None:
    told: bytes | None = None
    try:
        told = _called(Call.from_json(orjson.loads(request)))
    except MemoryError:
        limits.spare_memory()  # the frames that held the memory are gone by the next line
    _send_bytes(told or _OUT_OF_MEMORY)
    _flush()


def _called(call: Call) -> bytes:
    """The last message, as JSON."""
    try:
        return _encoded("its result", {"value": _perform(call)})
    except MemoryError:
        raise
    except BaseException as error:
        return orjson.dumps({"error": _told(error, Path(call.path))})


def _perform(call: Call) -> Any:
    component_type = load(Path(call.path))
    if call.method == "declare":
        return {**declaration(component_type), "problems": problems(component_type)}
    component, declared = component_type(), props_of(component_type)
    client = OutboundClient(Guard(call.allow_hosts), user_agent=USER_AGENT)
    ctx = Context(call, declared, client, _send)
    if call.method == "options":
        return _options(component, declared, call.prop or "", ctx)
    if call.method == "reload":
        return to_json(_reloaded(component, declared, ctx))
    method: Callable[[Context], Any] = getattr(component, call.method)
    found = method(ctx)
    if call.stash:
        ctx.files.hand_over(lambda message: _send_bytes(orjson.dumps(message)), ctx.log)
    return found


def _options(component: Component, declared: Mapping[str, Prop], name: str, ctx: Context) -> dict[str, Any]:
    prop = declared.get(name) or _reloaded(component, declared, ctx).get(name)
    find = prop.find_options if prop else None
    if find is None:
        raise ComponentError(f"The prop {name} has no options to look up.")
    found = find(ctx)
    if not isinstance(found, Options):
        raise ResultError(f"The options of {name} must come as Options([...]), not as {type(found).__name__}.")
    listed = [one.to_json() for one in found.items if isinstance(one, Option)]
    texts = [one for one in found.items if isinstance(one, str)]
    if len(listed) + len(texts) != len(found.items) or (listed and texts):
        raise ResultError(f"The options of {name} must be all Option or all text.")
    context = None if found.context is None else dict(found.context)
    return {"options": None if texts else listed, "string_options": texts or None, "context": context}


def _reloaded(component: Component, declared: Mapping[str, Prop], ctx: Context) -> dict[str, Prop]:
    added = component.reload(ctx)
    if not isinstance(added, Mapping) or not all(isinstance(one, Prop) for one in added.values()):
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
    """Tell ``message`` at once. Raises :class:`ResultError`."""
    what = next((f"{verb} {message[verb]}" for verb in ("export", "set") if verb in message), "an event")
    _send_bytes(_encoded(what, message))


def _send_bytes(payload: bytes) -> None:
    rest = memoryview(frame(payload))
    with _one_at_a_time:
        while rest:
            rest = rest[os.write(_TELL, rest) :]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue


def _told(error: BaseException, path: Path) -> dict[str, Any]:
    kind = next((kind for type_, kind in _KINDS if isinstance(error, type_)), "exception")
    frames = [one for one in traceback.extract_tb(error.__traceback__) if _is_own(one.filename, path)]
    if not frames and isinstance(error, SyntaxError | ImportError):
        kind = "load"
    return {
        "kind": kind,
        "name": type(error).__name__,
        "message": _sentence(error)[:_MESSAGE_CHARS],
        "stack": "".join(traceback.format_list(frames)).replace(f"{_root(path)}/", "")[-_STACK_CHARS:],
        "status": error.status if isinstance(error, HttpError) else None,
    }


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "The component ended its own process. It must return a value or raise an error instead."
    try:
        said = str(error).strip()
    except Exception:
        said = ""
    if isinstance(error, ComponentError):
        return said or "The component failed and did not say why."
    return f"{type(error).__name__}: {said}" if said else f"The component failed by {type(error).__name__}."


def _is_own(filename: str, path: Path) -> bool:
    return filename.startswith(f"{_root(path)}/")


def _root(path: Path) -> Path:
    """The folder of the component's app, or of the operator's own components."""
    folder = path.parent.parent
    return folder.parent if folder.name in ("actions", "triggers") else folder
