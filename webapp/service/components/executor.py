"""Whoever calls a component asks here: what is data runs in this thread, what is code in a child of the runner."""

from webapp.service.components.calls import Call, Reply
from webapp.service.components.declared.interpreter import Interpreter
from webapp.service.components.declared.source import is_declared
from webapp.service.components.runner import Runner


class Executor:
    """Makes calls of components of either kind. Threads may share one."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._interpreter = runner, Interpreter()

    @classmethod
    def start(cls) -> "Executor":
        """One with a runner of this process's own, which costs nothing until the first call of code."""
        return cls(Runner.start())

    def call(self, call: Call) -> Reply:
        """Make ``call`` and wait for what comes of it. A failure is part of the Reply, never an exception."""
        return self._interpreter.call(call) if is_declared(call.path) else self._runner.call(call)

    def close(self) -> None:
        """End a runner of our own."""
        self._runner.close()

    def __enter__(self) -> "Executor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
