"""Builds the Reply of a call from the messages of its process, the runner and the broker, and masks secrets in it."""

import base64
import functools
import signal
import time
from typing import Any, get_args

from webapp.kit.clock import now
from webapp.kit.sentences import marked
from webapp.service.components import limits
from webapp.service.components.calls import (
    Call,
    Emitted,
    ErrorInfo,
    ErrorKind,
    HttpAnswer,
    Observation,
    Reply,
    WrittenFile,
)
from webapp.service.components.masking import Mask

LATEST = 8_640_000_000_000_000  # the last date in epoch milliseconds (ECMA-262, time values)
_NOTHING = object()
_CUTS = ("timeout", "output", "memory", "disk")


class ReplyBuilder:
    """Collects the messages of one call."""

    def __init__(self, call: Call) -> None:
        self._call, self._began = call, time.monotonic()
        self._lines: list[Observation] = []
        self._partial, self._partial_ts = "", 0
        self._exports: dict[str, Any] = {}
        self._state: dict[str, Any] = {}
        self._events: list[Emitted] = []
        self._response: HttpAnswer | None = None
        self._files: dict[str, bytes] = {}
        self._value: Any = _NOTHING
        self._error: ErrorInfo | None = None
        self._refused: dict[str, bool] = {}
        self._ended = False
        self._ends_at: int | None = None
        self._tool_changed = False

    @functools.cached_property
    def _mask(self) -> Mask:
        """Built for the first line, as most calls log nothing."""
        return Mask.of(self._call)

    @property
    def ended(self) -> bool:
        """Whether the final message has arrived."""
        return self._ended

    def take_from_child(self, message: dict[str, Any]) -> None:
        """Take a message from the process of the call, which may not report a refused credential or a changed tool."""
        if "refused" not in message and "tool_changed" not in message:
            self.take(message)

    def take(self, message: dict[str, Any]) -> None:  # noqa: C901 - one case for each message
        """Take one message of the child, the runner or the broker. Messages of unknown form are ignored."""
        match message:
            case {"log": str(text), "ts": int(ts)}:
                self._flush()
                self._add(text, _moment(ts))
            case {"print": str(text), "ts": int(ts)}:
                self._print(text, ts)
            case {"export": str(name), "value": value}:
                self._exports[name] = value
            case {"set": str(name), "value": value}:
                self._state[name] = value
            case {"emit": event, "id": (str() | None) as id, "summary": (str() | None) as summary, "ts": int(ts)}:
                self._events.append(Emitted(event, id, summary, _moment(ts)))
            case {"respond": int(status), "body": str(body), "headers": dict(headers)}:
                self._response = HttpAnswer(status, body, {str(name): str(field) for name, field in headers.items()})
            case {"file": str(name), "content": str(content)} if self._call.stash:
                self._keep(name, content)
            case {"ends": int(at)} if 0 <= at <= LATEST:
                self._ends_at = at
            case {"refused": str(name), "repeatable": bool(repeatable)} if name in self._call.accounts:
                self._refused[name] = repeatable
            case {"tool_changed": True}:
                self._tool_changed = True
            case {"value": value}:
                self._value = value
            case {"error": dict(fields)}:
                self._error = self._info(fields)
            case {"end": reason, "code": int(code)}:
                self._ended = True
                if reason in _CUTS or (self._value is _NOTHING and self._error is None):
                    self._error = self._cut_off(reason, code)

    def fail(self, message: str) -> Reply:
        """Return the reply for a runner that could not be reached or stopped answering."""
        self._error = ErrorInfo("runner", "RunnerError", message)
        return self.reply()

    def reply(self) -> Reply:
        """Return the reply to the call."""
        self._flush()
        error = self._error
        lines = [*self._lines]
        if error is not None:
            lines.append(Observation("error", now(), None, error))
        return Reply(
            value=None if error or self._value is _NOTHING else self._value,
            exports=self._exports,
            observations=tuple(lines),
            error=error,
            took_ms=round((time.monotonic() - self._began) * 1000),
            events=tuple(self._events),
            state=self._state,
            response=self._response,
            files=() if error else tuple(WrittenFile(name, content) for name, content in self._files.items()),
            refused=tuple(self._refused),
            repeatable=all(self._refused.values()) and not self._events,
            ends_at=self._ends_at,
            tool_changed=self._tool_changed,
        )

    def _keep(self, name: str, content: str) -> None:
        """Keep a file unless the limit is exceeded; the sender is not trusted to check that."""
        try:
            file = base64.b64decode(content, validate=True)
        except ValueError:
            return
        size = sum(map(len, self._files.values())) + len(file)
        if size <= limits.STASH_BYTES and len(self._files) < limits.STASH_FILES:
            self._files[name] = file

    def _print(self, text: str, ts: int) -> None:
        """Split output into lines; a line may arrive in several pieces."""
        self._partial_ts = self._partial_ts or ts
        *whole, self._partial = (self._partial + text).split("\n")
        for line in whole:
            self._add(line, self._partial_ts)
            self._partial_ts = ts
        if len(self._partial) > limits.LOG_LINE_CHARS:
            self._flush()
        if not self._partial:
            self._partial_ts = 0

    def _flush(self) -> None:
        if self._partial:
            self._add(self._partial, self._partial_ts)
        self._partial, self._partial_ts = "", 0

    def _add(self, text: str, ts: int) -> None:
        if len(self._lines) < limits.LOG_LINES:
            self._lines.append(Observation("log", ts, self._mask(text)[: limits.LOG_LINE_CHARS]))
        elif len(self._lines) == limits.LOG_LINES:
            self._lines.append(Observation("log", ts, f"(only the first {limits.LOG_LINES:,} lines are kept)"))

    def _info(self, fields: dict[str, Any]) -> ErrorInfo:
        kind: ErrorKind = fields.get("kind") if fields.get("kind") in get_args(ErrorKind) else "exception"  # type: ignore[assignment]  # one of them
        status = fields.get("status")
        return ErrorInfo(
            kind=kind,
            name=str(fields.get("name", "Error"))[:200],
            message=self._mask(str(fields.get("message", "")))[: limits.LOG_LINE_CHARS],
            stack=self._mask(str(fields.get("stack", "")))[: limits.LOG_LINE_CHARS],
            status=status if isinstance(status, int) else None,
        )

    def _cut_off(self, reason: str | None, code: int) -> ErrorInfo:
        if reason == "timeout":
            after = f"{self._call.deadline_s:g} s"
            message = f"The component was still working after {after}, so it was stopped. Ask for less, or try again."
            return ErrorInfo("timeout", "Timeout", message)
        if reason == "output":
            message = "The component gave more than 6 MiB of results and logs, so it was stopped. Ask for less."
            return ErrorInfo("output", "TooMuchOutput", message)
        if reason == "memory":
            message = "The component's processes needed more than 1 GiB of memory, so they were stopped. Ask for less."
            return ErrorInfo("memory", "MemoryError", message)
        if reason == "disk":
            message = "The component wrote more than 512 MiB, so it was stopped. Ask for less at once."
            return ErrorInfo("output", "TooMuchOutput", message)
        manner = marked(f"it was ended by {_signal(-code)}") if code < 0 else marked(f"it exited with code {code}")
        message = f"The component's process ended without a result: {manner}. Try again, or tell its author."
        return ErrorInfo("crash", "Crash", message)


def _moment(ts: int) -> int:
    """``ts``, or the present time if ``ts`` is not a valid date."""
    return ts if abs(ts) <= LATEST else now()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
