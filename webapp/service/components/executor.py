"""Makes calls of components of every kind: what is data runs in this thread, Python by the runner, pieces by Node.

Whoever calls a component asks an :class:`Executor`. Nothing of pieces is loaded before one is called.
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
CANCELLED = "It was stopped, because whoever asked for it wants it no more. Look what it did until then."


class Executor:
    """Makes calls of components of every kind. Threads may share one."""

    def __init__(self, runner: Runner, pieces: PieceBounds | None = None) -> None:
        """``pieces`` is what the processes for pieces may take."""
        self._runner, self._interpreter = runner, Interpreter()
        self._bounds, self._lock = pieces or PieceBounds(), threading.Lock()
        self._caller: PieceCaller | None = None

    @classmethod
    def start(cls) -> "Executor":
        """One with a runner of this process's own, which costs nothing until the first call of code."""
        return cls(Runner.start())

    def call(self, call: Call) -> Reply:
        """Make ``call`` and wait for what comes of it. A failure is part of the Reply, never an exception."""
        return _stopped(self._call(call))

    def ask_package(self, question: "PackageCall") -> Reply:
        """Ask a package of pieces what is of no part of it. A failure is part of the Reply, never an exception."""
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
        """What confines components that are code on this machine; empty where that is not known just now."""
        try:
            return self._runner.confinement()
        except OSError:
            return []

    def close(self) -> None:
        """End a runner of our own."""
        self._runner.close()

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _stopped(reply: Reply) -> Reply:
    """``reply``; of a call that failed because it was stopped, in words that say so."""
    work = CURRENT.get()
    if not work or not work.is_requested or reply.ok:
        return reply
    info = ErrorInfo("crash", "Cancelled", CANCELLED)
    return replace(reply, error=info, observations=(*reply.observations[:-1], Observation("error", now(), err=info)))
