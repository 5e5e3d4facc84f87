"""Calls pieces: translates the values of the API to those of the piece, and its results back.

Most calls run a component; a :class:`PackageCall` asks the package as a whole for its contents, whether an account
works, or which account an event belongs to.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cronsim import CronSim, CronSimError

from webapp.kit.clock import DAY, SECOND, now
from webapp.service.components.calls import Call, PieceBounds, Reply
from webapp.service.components.errors import ComponentError, describe
from webapp.service.components.pieces import auth_values, form, props, values
from webapp.service.components.pieces.channels import Reach
from webapp.service.components.pieces.conversation import Conversation, Request
from webapp.service.components.pieces.form import ComponentFile, PieceForm
from webapp.service.components.pieces.package_calls import PackageCall
from webapp.service.components.pieces.values import field_of
from webapp.service.components.reply_builder import ReplyBuilder
from webapp.service.components.wire import Line

UNAUTHORIZED = 401
_READING = ("options", "reload")


def ends_at(cron: str, now: int) -> int:
    """The end, in epoch milliseconds, of a subscription made at ``now`` that is renewed by the schedule ``cron`` (UTC).

    Subscriptions are renewed after two thirds of their time, so that is put on the next tick of ``cron``. An invalid
    ``cron`` counts as one day.
    """
    try:
        tick = next(CronSim(cron, datetime.fromtimestamp(now / SECOND, UTC)), None)
    except CronSimError:
        tick = None
    wait = int(tick.timestamp() * SECOND) - now if tick else DAY
    return now + max(wait, SECOND) * 3 // 2


class PieceCaller:
    """Calls pieces. ``connect`` opens a line to the runner until a deadline (monotonic seconds).

    Threads may share one.
    """

    def __init__(self, connect: Callable[[float], Line | None], bounds: PieceBounds) -> None:
        self._connect, self._bounds = connect, bounds

    def call(self, call: Call) -> Reply:
        """Make ``call`` and return its Reply. A failure is part of the Reply, never an exception."""
        builder = ReplyBuilder(call)
        try:
            file = form.read(Path(call.path))
            if call.method == "declare":
                builder.take({"value": {**file.declaration.model_dump(mode="json"), "problems": []}})
                return builder.reply()
            request = _request(call, file)
        except ComponentError as error:
            builder.take({"error": describe(error, Path(call.path))})
            return builder.reply()
        reply = Conversation(request, builder, self._connect, self._bounds).hold()
        if not reply.ok:
            return _noting_refusal(call, file, reply)
        if file.piece.renew and call.method in ("activate", "renew"):
            reply = replace(reply, ends_at=ends_at(file.piece.renew, now()))
        try:
            return replace(reply, value=_value(call, file, reply.value))
        except ComponentError as error:
            builder.take({"error": describe(error, Path(call.path))})
            return replace(builder.reply(), refused_hosts=reply.refused_hosts)

    def ask(self, question: PackageCall) -> Reply:
        """Make a call to a package as a whole and return its Reply."""
        builder = ReplyBuilder(Call(path="", mask=question.mask, deadline_s=question.deadline_s))
        request = Request(
            question.folder,
            question.name,
            {**question.fields, "method": question.method, "now": now()},
            Reach(question.hosts, question.allow_hosts),
            question.user,
            question.deadline_s,
        )
        return Conversation(request, builder, self._connect, self._bounds).hold()


def _request(call: Call, file: ComponentFile) -> Request:
    """``call`` in the form that our Node program takes. Raises :class:`ComponentError`."""
    piece = file.piece
    content = {
        "method": call.method,
        "kind": piece.kind,
        "name": piece.name,
        "props": values.props_value(piece, call.props),
        **_asked_for(piece, call.prop),
        "query": call.query,
        "auth": auth_values.auth(piece, call.accounts),
        "state": dict(call.state),
        "event": call.event,
        "endpoint": call.endpoint,
        "files": dict(call.files),
        "user": call.user,
        "now": now(),
    }
    hosts = (*call.hosts, *auth_values.hosts(piece, call.accounts))
    return Request(
        form.folder(Path(call.path), piece),
        piece.package,
        content,
        Reach(hosts, call.allow_hosts),
        call.user,
        call.deadline_s,
        call.stash,
    )


def _asked_for(piece: PieceForm, name: str | None) -> dict[str, str | None]:
    """The piece's own name of the prop whose options are requested; for a dynamic prop, also the field."""
    dynamic = piece.dynamic
    place = None if name is None or name in piece.props else field_of(name, dynamic)
    if place is not None:
        return {"prop": dynamic[place[0]], "field": place[1]}
    return {"prop": piece.props[name].name if name in piece.props else name, "field": None}


def _value(call: Call, file: ComponentFile, value: Any) -> Any:
    """``value`` as Python components return it. Raises :class:`ComponentError`."""
    if call.method == "options":
        return values.remote(call, value)
    if call.method == "reload":
        return props.reloaded(file, value)
    return value


def _noting_refusal(call: Call, file: ComponentFile, reply: Reply) -> Reply:
    """``reply``, with the account named if the provider refused its credential.

    Earlier requests of the call are not known, so only calls that read are repeatable.
    """
    if reply.error is None or reply.error.status != UNAUTHORIZED or file.piece.account not in call.accounts:
        return reply
    repeatable = not reply.events and (call.method in _READING or file.piece.read_only)
    return replace(reply, refused=(file.piece.account,), repeatable=repeatable)
