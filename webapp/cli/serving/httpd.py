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
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.server import create_server
from waitress.task import ErrorTask, WSGITask

from webapp import deadlines
from webapp.cli.serving.channels import Channel
from webapp.cli.serving.connections import IDLE_S, Connections
from webapp.cli.serving.dispatching import Dispatcher
from webapp.cli.serving.draining import drain
from webapp.cli.serving.looping import Loop
from webapp.cli.serving.shares import Share, shares
from webapp.cli.serving.stopping import Stop

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024
ALIVE = "/healthz"
_SENTENCES = {
    400: "The request is not valid HTTP; check the client that sent it.",
    413: "The body is larger than 10 MiB; send less.",
    431: "The headers are larger than 64 KiB; send fewer cookies or shorter headers.",
    501: "Send the body with a Content-Length, or chunked; other transfer codings are not understood.",
}
_ADDRESS = re.compile(r"( while serving) .*", re.DOTALL)


def serve(
    app: "WSGIApplication",
    sockets: Sequence[socket.socket],
    *,
    threads: int,
    places: int = 1,
    stop: Stop,
    bounds: Mapping[str, float] = deadlines.DEFAULTS,
    proxies: Sequence[str] = (),
    share: Share | None = None,
) -> None:
    """Answer requests until ``stop``; then finish those that have begun (:mod:`draining`).

    Of the ``threads``, as many compute at a time as there are ``places``: Python would let no more than one, and
    several in turns take longer than one by one. ``bounds`` are the numbers of :data:`webapp.deadlines.TABLE`;
    ``proxies`` are trusted to stand for many clients. Several processes may listen on the same ``sockets``, each with
    its ``share``.
    """
    _raise_file_limit(int(bounds[deadlines.CONNECTIONS.name]))
    logging.getLogger("waitress").addFilter(_without_address)
    polled: dict[int, Any] = {}
    dispatcher = _Dispatcher(threads, places)
    create_server(
        app,
        map=polled,
        sockets=list(sockets),
        _dispatcher=dispatcher,  # type: ignore[arg-type]  # it has what the server calls of one
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
    share = share or shares(1)[0]
    connections = Connections(polled, bounds, proxies, _Channel)
    loop = Loop(polled, connections, dispatcher)
    for listener in listeners:
        listener.stop, listener.channel_class = stop, connections.open
        listener.handle_accept = _yielding(listener.handle_accept, share)
    stop.then(listeners[0].pull_trigger)
    stop.tell_ready()
    while not stop.is_set():
        loop.turn(5.0)
        share.hold(connections.count)
    drain(loop, listeners, replaced=stop.replaced)
    dispatcher.shutdown()
    wasyncore.close_all(polled)


def _yielding(accept: Callable[[], None], share: Share) -> Callable[[], None]:
    """``accept``, once other processes that share the socket had their chance."""

    def handle() -> None:
        share.give_way()
        accept()

    return handle


def _without_address(record: logging.LogRecord) -> bool:
    """The server names the address of a request that fails or whose client hangs up; tokens may stand in it."""
    record.msg = _ADDRESS.sub(r"\1 a request", str(record.msg))
    return True


def _raise_file_limit(connections: int) -> None:
    """Room for every connection and the files behind them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * connections + 256
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard) if hard > 0 else needed, hard))


class _Dispatcher(Dispatcher):
    """Gives requests for :data:`ALIVE` to a thread of their own, which waits for nothing."""

    def __init__(self, threads: int, places: int) -> None:
        super().__init__(threads, places)
        self._alive = Dispatcher(1, 1)

    def add_task(self, task: Any) -> None:
        path = getattr(task.requests[0], "path", None)  # which a request that could not be parsed has not
        if path == ALIVE:
            self._alive.add_task(task)
        else:
            super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        return self._alive.shutdown() and super().shutdown()


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


class _Task(WSGITask):
    """Answers one request; the last one of its connection where the process is stopping."""

    def write(self, data: bytes) -> None:
        """Send ``data``, and the header with the first of it."""
        channel: Any = self.channel
        if self.wrote_header:
            super().write(data)
        else:
            channel.send_together(lambda: super(_Task, self).write(data))

    def build_response_header(self) -> bytes:
        server: Any = self.channel.server
        if server.stop.closing:
            request: Any = self.request
            request.headers["CONNECTION"] = "close"
        return super().build_response_header()


class _Channel(Channel):
    task_class = _Task
    error_task_class = _JSONErrorTask
