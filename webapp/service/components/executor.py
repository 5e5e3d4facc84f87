"""Calls components of every kind: declared ones in this thread, Python ones in the runner, pieces in Node.

:class:`Executor` is the only entry point for calls. The modules for pieces are imported with the first call of one.
"""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from webapp.kit.cancellation import CURRENT
from webapp.kit.clock import now
from webapp.kit.slots import this_thread
from webapp.service.components.calls import Call, ErrorInfo, Observation, PieceBounds, Reply
from webapp.service.components.confinement.confinement import Measure
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.components.declared.source import ENDING
from webapp.service.components.runner import Runner

if TYPE_CHECKING:
    from webapp.service.components.pieces.caller import PieceCaller
    from webapp.service.components.pieces.package_calls import PackageCall

PIECE = ".json"
CANCELLED = "It was cancelled by the caller. Check what it did until then."


class Executor:
    """Calls components of every kind. Threads may share one."""

    def __init__(self, runner: Runner, pieces: PieceBounds | None = None) -> None:
        """``pieces`` limits the processes for pieces."""
        self._runner, self._interpreter = runner, Interpreter()
        self._bounds, self._lock = pieces or PieceBounds(), threading.Lock()
        self._caller: PieceCaller | None = None

    @classmethod
    def start(cls) -> "Executor":
        """Return an executor with a runner of its own, which starts with the first call of a Python component."""
        return cls(Runner.start())

    def call(self, call: Call) -> Reply:
        """Make ``call`` and return its Reply. A failure is part of the Reply, never an exception."""
        return _stopped(self._call(call))

    def ask_package(self, question: "PackageCall") -> Reply:
        """Ask a package of pieces as a whole. A failure is part of the Reply, never an exception."""
        with this_thread.waiting:
            return _stopped(self._pieces().ask(question))

    def _call(self, call: Call) -> Reply:
        if call.path.endswith(ENDING):
            return self._interpreter.call(call)
        if not call.path.endswith(PIECE):
            return self._runner.call(call)
        with this_thread.waiting:
            return self._pieces().call(call)

    def _pieces(self) -> "PieceCaller":
        with self._lock:
            if self._caller is None:
                from webapp.service.components.pieces.caller import PieceCaller

                self._caller = PieceCaller(self._runner.line, self._bounds)
        return self._caller

    def confinement(self) -> list[Measure]:
        """How this machine confines Python components; empty if the runner does not answer."""
        try:
            return self._runner.confinement()
        except OSError:
            return []

    def close(self) -> None:
        """Stop the runner if this executor started it."""
        self._runner.close()

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stopped(reply: Reply) -> Reply:
    """``reply``; if the call failed because it was cancelled, with an error that says so."""
    work = CURRENT.get()
    if not work or not work.is_requested or reply.ok:
        return reply
    info = ErrorInfo("crash", "Cancelled", CANCELLED)
    return replace(reply, error=info, observations=(*reply.observations[:-1], Observation("error", now(), err=info)))
