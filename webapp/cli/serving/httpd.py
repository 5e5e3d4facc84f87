"""The WSGI server of one process: waitress, with this project's limits, JSON errors and a graceful end.

Headers and bodies are read by one thread before a worker thread sees them, so that clients which send slowly hold no
thread, and :mod:`connections` ends them; what is too large is refused by its length alone. Whether the process lives is
answered beside those threads.
"""

import json
import logging
import re
import resource
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.server import create_server
from waitress.task import ErrorTask, ThreadedTaskDispatcher

from webapp import deadlines
from webapp.cli.serving.channels import Channel
from webapp.cli.serving.connections import IDLE_S, Connections
from webapp.cli.serving.stopping import Stop

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024
ALIVE = "/healthz"
GRACE_S = 10.0
SETTLE_S = 0.2
_SENTENCES = {
    400: "The request is not valid HTTP; check the client that sent it.",
    413: "The body is larger than 10 MiB; send less.",
    431: "The headers are larger than 64 KiB; send fewer cookies or shorter headers.",
    501: "Send the body with a Content-Length, or chunked; other transfer codings are not understood.",
}
log = logging.getLogger(__name__)
_ADDRESS = re.compile(r"( while serving) .*", re.DOTALL)


def serve(
    app: "WSGIApplication",
    sockets: Sequence[socket.socket],
    *,
    threads: int,
    stop: Stop,
    bounds: Mapping[str, float] = deadlines.DEFAULTS,
    proxies: Sequence[str] = (),
) -> None:
    """Answer requests until ``stop``; then finish those that have begun, for at most :data:`GRACE_S` seconds.

    ``bounds`` are the numbers of :data:`webapp.deadlines.TABLE`; ``proxies`` are trusted to stand for many clients.
    """
    _raise_file_limit(int(bounds[deadlines.CONNECTIONS.name]))
    logging.getLogger("waitress").addFilter(_without_address)
    polled: dict[int, Any] = {}
    server = create_server(
        app,
        map=polled,
        sockets=list(sockets),
        _dispatcher=_Dispatcher(threads),
        ident=None,
        connection_limit=2**31,  # there are others for that: see Connections
        channel_timeout=IDLE_S,
        cleanup_interval=5,
        max_request_body_size=MAX_BODY_BYTES + 1,  # waitress refuses from this size on
        max_request_header_size=MAX_HEADER_BYTES,
        clear_untrusted_proxy_headers=False,  # webapp.trust judges them
        asyncore_use_poll=True,
    )
    listeners = [entry for entry in polled.values() if hasattr(entry, "channel_class")]
    connections = Connections(polled, bounds, proxies, _Channel)
    for listener in listeners:
        listener.channel_class = connections.open
    stop.then(listeners[0].pull_trigger)
    while not stop.is_set():
        _turn(5.0, polled, connections)
    _drain(polled, connections, listeners)
    server.task_dispatcher.shutdown(timeout=1)
    wasyncore.close_all(polled)


def _without_address(record: logging.LogRecord) -> bool:
    """The server names the address of a request that fails or whose client hangs up; tokens may stand in it."""
    record.msg = _ADDRESS.sub(r"\1 a request", str(record.msg))
    return True


def _turn(timeout_s: float, polled: dict[int, Any], connections: Connections) -> None:
    wasyncore.loop(timeout=min(timeout_s, connections.pause_s()), use_poll=True, map=polled, count=1)
    connections.settle()


def _drain(polled: dict[int, Any], connections: Connections, listeners: Sequence[Any]) -> None:
    """Take what has arrived already, then nothing new, and wait for what has begun.

    The triggers stay, since working threads use them.
    """
    now = time.monotonic()
    _turn_until(now + SETTLE_S, polled, connections, lambda: False)
    for listener in listeners:
        wasyncore.dispatcher.close(listener)
    if not _turn_until(now + GRACE_S, polled, connections, lambda: not _busy(polled)):
        log.warning("Requests that took longer than %g s were cut off.", GRACE_S)


def _turn_until(deadline: float, polled: dict[int, Any], connections: Connections, done: Callable[[], bool]) -> bool:
    """Keep serving until ``done`` or the deadline; whether it was ``done``."""
    while not done():
        if time.monotonic() >= deadline:
            return False
        _turn(0.05, polled, connections)
    return True


def _busy(polled: dict[int, Any]) -> bool:
    """Whether a request is being answered, or an answer not sent yet. A request half sent does not count."""
    channels = [entry for entry in polled.values() if isinstance(entry, Channel)]
    return any(channel.requests or channel.total_outbufs_len for channel in channels)


def _raise_file_limit(connections: int) -> None:
    """Room for every connection and the files behind them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * connections + 256
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard) if hard > 0 else needed, hard))


class _Dispatcher(ThreadedTaskDispatcher):
    """Gives requests to at most ``threads``, and those for :data:`ALIVE` to one more, which waits for nothing.

    A thread begins when all others are at work: few are warmer, and hold less memory, than many that take turns.
    """

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._threads = threads
        self._alive = ThreadedTaskDispatcher()
        self._alive.set_thread_count(1)

    def add_task(self, task: Any) -> None:
        path = getattr(task.requests[0], "path", None)  # which a request that could not be parsed has not
        if path == ALIVE:
            self._alive.add_task(task)
            return
        if len(self.threads) < self._threads and self.active_count + len(self.queue) >= len(self.threads):
            self.set_thread_count(len(self.threads) + 1)
        super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        self._alive.shutdown(cancel_pending, timeout)
        return bool(super().shutdown(cancel_pending, timeout))


class _JSONErrorTask(ErrorTask):
    """Answers what never reaches the application in the API's error shape."""

    def execute(self) -> None:
        request: Any = self.request  # a request that could not be parsed, which carries its error
        error = request.error
        body = json.dumps({"error": _SENTENCES.get(error.code, error.reason)}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers = [("Content-Type", "application/json")]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Channel(Channel):
    error_task_class = _JSONErrorTask
