"""How a process of ours learns that it should end: by a signal, or because the process above it is gone."""

import os
import signal
import threading
from collections.abc import Callable

from webapp.cli.serving.logs import flush


class Stop(threading.Event):
    """Set once, by SIGTERM (and SIGINT, unless a supervisor passes it on); then calls what was left with it.

    What is left with :meth:`then` is called from a signal handler: it may only write to a pipe or the like.
    """

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[Callable[[], object]] = []
        self.lifeline: int | None = None  # reads to its end when the process above is gone; for one that replaces us

    def then(self, call: Callable[[], object]) -> None:
        """Have ``call`` called when the end comes; at once, if it came already."""
        self._calls.append(call)
        if self.is_set():
            call()

    def on(self, *signals: signal.Signals) -> "Stop":
        """Be set by ``signals``; for the main thread."""
        for number in signals:
            signal.signal(number, self._handle)
        return self

    def _handle(self, number: int, frame: object) -> None:
        self.set()
        for call in self._calls:
            call()


def end_with(lifeline: int, grace_s: float) -> None:
    """Ask this process to stop when the other end of the pipe ``lifeline`` closes; end it ``grace_s`` seconds later.

    The kernel closes that end with the process that holds it, however it died: no orphan keeps the port.
    """

    def watch() -> None:
        os.read(lifeline, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(grace_s)
        flush()
        os._exit(1)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
