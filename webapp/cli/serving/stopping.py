"""How a process of ours learns that it should end: by a signal, or because the process above it is gone."""

import os
import signal
import threading
from collections.abc import Callable

from webapp.cli.serving.logs import flush

LEAVE = signal.SIGUSR2


class Stop(threading.Event):
    """Set once, by SIGTERM (and SIGINT, unless a supervisor passes it on); then calls what was left with it.

    From the signal on it is ``closing``: each connection gets one more answer. With ``drain_s`` the process works on
    for so many seconds, until a second signal comes. :data:`LEAVE` comes to one that another has ``replaced``, which
    may take its time; the service itself is not ``stopping`` then.

    What is left with :meth:`then` is called from a signal handler: it may only write to a pipe or the like.
    """

    def __init__(self, drain_s: float = 0.0) -> None:
        super().__init__()
        self._calls: list[Callable[[], object]] = []
        self._drain_s = drain_s
        self.closing = self.replaced = False
        self.lifeline: int | None = None  # reads to its end when the process above is gone; for one that replaces us
        self.tell_ready: Callable[[], object] = lambda: None  # to be called once the process does its work

    @property
    def stopping(self) -> bool:
        """Whether requests should go elsewhere from now on."""
        return self.closing and not self.replaced

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
        self.replaced = number == LEAVE
        drains = self._drain_s and not self.replaced and not self.closing
        self.closing = True
        if drains:
            signal.signal(signal.SIGALRM, self._handle)
            signal.setitimer(signal.ITIMER_REAL, self._drain_s)
            return
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
