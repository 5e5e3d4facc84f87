"""Runs declared components in the calling thread, with the same Reply, guard, masks and limits as the runner.

A declared component can only send the requests in its form and copy values, so it needs no confined process; the bytes
that it reads and the time that it takes are bounded here.
"""

import base64
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from webapp.service.components import limits
from webapp.service.components.calls import Call, Reply
from webapp.service.components.declared import definition, lookups, steps, tools, triggers
from webapp.service.components.declared.form import ActionForm, TriggerForm
from webapp.service.components.declared.paging import gather
from webapp.service.components.declared.requests import ask, send
from webapp.service.components.declared.session import OutOfTime, Session
from webapp.service.components.declared.templates import fill, parse, shape
from webapp.service.components.errors import ComponentError, describe
from webapp.service.components.http import HttpResponse
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.headers import USER_AGENT

SUMMARY_CHARS = 500
_INTEGERS = range(-(2**63), 2**64)


class TooMuchOutput(Exception):
    """The call produced more output than allowed."""


class Interpreter:
    """Calls declared components. Threads may share one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._client: OutboundClient | None = None

    def call(self, call: Call) -> Reply:
        """Make ``call`` and return its Reply, at the latest at its deadline."""
        builder = ReplyBuilder(call)
        output = _Output(call, builder.take)
        try:
            output.send({"value": self._perform(call, output)})
        except TooMuchOutput:
            builder.take({"end": "output", "code": 0})
        except OutOfTime:
            builder.take({"end": "timeout", "code": 0})
        except Exception as error:
            builder.take({"error": describe(error, Path(call.path))})
        return builder.reply()

    def _perform(self, call: Call, output: "_Output") -> Any:
        path = Path(call.path)
        if call.method == "declare":
            facts, problems = definition.examine(path)
            return {**(facts or {}), "problems": problems}
        session = Session(definition.component(path), call, self._outbound(call.allow_hosts), output.send)
        if call.method == "options":
            return lookups.options(session, call.prop or "")
        if call.method == "reload":
            return lookups.reload(session)
        if isinstance(session.form, TriggerForm):
            return triggers.perform(session, session.form, call.method)
        return _run_action(session, session.form)

    def _outbound(self, allow_hosts: tuple[str, ...]) -> OutboundClient:
        with self._lock:
            if self._client is None:
                self._client = OutboundClient(Guard(), user_agent=USER_AGENT)
        return self._client.allowing(*allow_hosts)


class _Output:
    """Passes the messages of ``call`` on until they exceed the limit of a child's output."""

    def __init__(self, call: Call, take: Callable[[dict[str, Any]], None]) -> None:
        self._left, self._take = limits.output_bytes(call.stash), take

    def send(self, message: dict[str, Any]) -> None:
        """Pass ``message`` on. Raises :class:`TooMuchOutput`."""
        try:
            payload = orjson.dumps(message)
        except orjson.JSONEncodeError:
            message = _json_safe(message)
            payload = orjson.dumps(message)
        self._left -= len(payload)
        if self._left < 0:
            raise TooMuchOutput
        self._take(message)


def _json_safe(message: dict[str, Any]) -> dict[str, Any]:
    """``message`` with values that every JSON parser can read: integers of more than 64 bits lose their last digits,
    and lone surrogates become question marks."""
    carried: dict[str, Any] = json.loads(
        json.dumps(message, ensure_ascii=False).encode(errors="replace"), parse_int=_number
    )
    return carried


def _number(digits: str) -> int | float:
    number = int(digits)
    return number if number in _INTEGERS else float(digits)


def _run_action(session: Session, form: ActionForm) -> Any:
    """Run an action."""
    if form.reload is not None:
        session.scope["$fields"] = lookups.field_values(session, form.reload)
    steps.take(session, form.steps)
    for name, value in form.values.items():
        session.scope["$values"][name] = fill(value, session.scope)
    for reason in form.refuse:
        if steps.holds(session, reason.only_if):
            raise ComponentError(parse(reason.words).text(session.scope))
    more = _answered(session, form)
    scope = session.with_(**more)
    for name, value in form.exports.items():
        session.send({"export": name, "value": shape(value, scope)})
    session.send({"export": "$summary", "value": parse(form.summary).text(scope).strip()[:SUMMARY_CHARS]})
    if form.result is not None:
        return shape(form.result, scope)
    is_list = form.request.pages is not None or form.each is not None
    return more.get("file") or (more["items"] if is_list else more["answer"])


def _answered(session: Session, form: ActionForm) -> Mapping[str, Any]:
    """The outcome of the main request, by template names without their ``$``."""
    request = form.request
    if form.tool is not None:
        return {"answer": tools.call(session, form, form.tool), "items": None}
    if form.file is not None:
        answer = send(session, request, session.scope)
        return {"answer": None, "items": None, "file": _kept(session, form.file, answer)}
    if request.pages is None and not request.items and form.each is None:
        return {"answer": ask(session, request, session.scope), "items": None}
    items, body = gather(session, request, session.scope)
    if form.each is not None:
        items = [shape(form.each, session.with_(item=item, answer=body)) for item in items]
    return {"answer": body, "items": items}


def _kept(session: Session, template: str, answer: HttpResponse) -> dict[str, Any]:
    """Send the response as a file and return a description of it."""
    name = Path(parse(template).text(session.scope).strip()).name or "file"
    if len(answer.body) > limits.STASH_BYTES:
        raise ComponentError(f"The file has {len(answer.body):,} bytes, which is too much. Ask for a smaller one.")
    session.send({"file": name, "content": base64.b64encode(answer.body).decode()})
    return {"name": name, "size": len(answer.body), "content_type": answer.content_type}
