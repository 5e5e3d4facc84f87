"""The WSGI server of one process: waitress, with limits, JSON errors and a graceful end of this project.

One thread, the loop, reads headers and bodies before a working thread sees a request, so that clients which send slowly
hold no thread; :mod:`webapp.cli.serving.connections` closes those that are too slow, and
:mod:`webapp.cli.serving.dispatcher` says when a request is worked on. What is too large is refused by its length.
``/healthz`` is answered by a thread of its own. At the end the requests that have begun are finished, within a time.
"""

import json
import logging
import re
import resource
import select
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.server import create_server
from waitress.task import ErrorTask, WSGITask

from webapp import body_limits, connection_limits
from webapp.cli.serving.connections import IDLE_S, Channel, Connections
from webapp.cli.serving.dispatcher import Dispatcher
from webapp.cli.serving.listeners import Share, shares
from webapp.cli.serving.process import GRACE_S, LEAVE_S, Stop

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

MAX_HEADER_BYTES = 64 * 1024
ALIVE = "/healthz"
_SENTENCES = {
    400: "The request is not valid HTTP; check the client that sent it.",
    413: "The body is larger than 10 MiB; send less.",
    431: "The headers are larger than 64 KiB; send fewer cookies or shorter headers.",
    501: "Send the body with a Content-Length, or chunked; other transfer codings are not understood.",
}
_ADDRESS = re.compile(r"( while serving) .*", re.DOTALL)
LINGER_S = 2.0  # for which a replaced process waits for a next request on each open connection
SETTLE_S = 0.2
log = logging.getLogger(__name__)


def serve(
    app: "WSGIApplication",
    sockets: Sequence[socket.socket],
    *,
    threads: int,
    slots: int = 1,
    stop: Stop,
    bounds: Mapping[str, float] = connection_limits.DEFAULTS,
    proxies: Sequence[str] = (),
    share: Share | None = None,
) -> None:
    """Answer requests with ``app`` until ``stop`` is set; then finish those that have begun (:func:`_drain`).

    Of the ``threads``, as many compute at a time as there are ``slots``: Python runs one thread at a time, and handing
    over between several costs more than finishing one after another. ``bounds`` are the numbers of
    :data:`webapp.connection_limits.TABLE`; the addresses of ``proxies`` speak for many clients. Several processes may
    listen on the same ``sockets``, each with its ``share``.
    """
    _raise_file_limit(int(bounds[connection_limits.CONNECTIONS.name]))
    logging.getLogger("waitress").addFilter(_without_address)
    polled: dict[int, Any] = {}
    dispatcher = _DispatcherWithHealthThread(threads, slots)
    create_server(
        app,
        map=polled,
        sockets=list(sockets),
        _dispatcher=dispatcher,  # type: ignore[arg-type]  # it has what the server calls of one
        ident=None,
        connection_limit=2**31,  # there are others for that: see Connections
        channel_timeout=IDLE_S,
        cleanup_interval=5,
        max_request_body_size=body_limits.SERVER + 1,  # waitress refuses from this size on
        max_request_header_size=MAX_HEADER_BYTES,
        clear_untrusted_proxy_headers=False,  # webapp.trusted_proxies judges them
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
    stop.report_ready()
    while not stop.is_set():
        loop.turn(5.0)
        share.set_count(connections.count)
    _drain(loop, listeners, replaced=stop.replaced)
    dispatcher.shutdown()
    wasyncore.close_all(polled)


class Loop:
    """Waits until clients send or can take more, and deals with that; ``polled`` has what it polls, by descriptor.

    Reading needs a slot (:mod:`webapp.cli.serving.dispatcher`); waiting does not.
    """

    def __init__(self, polled: dict[int, Any], connections: Connections, dispatcher: Dispatcher) -> None:
        self.polled, self.connections = polled, connections
        self._dispatcher, self._slot = dispatcher, dispatcher.reader
        self._slot.release()

    def turn(self, timeout_s: float) -> None:
        """Wait at most ``timeout_s`` seconds for something to arrive, and deal with it."""
        if self._dispatcher.has_waiting_requests:
            self._dispatcher.defer_reading()
            self._slot.wait()
            events = self._poll(0)
        else:
            events = self._poll(min(timeout_s, self.connections.pause_s()))
            self._slot.reacquire()
        try:
            for descriptor, flags in events:
                if (entry := self.polled.get(descriptor)) is not None:
                    wasyncore.readwrite(entry, flags)
            self.connections.update()
        finally:
            self._slot.release()

    def _poll(self, timeout_s: float) -> list[tuple[int, int]]:
        """Return descriptors and their events, as :func:`waitress.wasyncore.poll2` asks for them."""
        pollster = select.poll()
        for descriptor, entry in list(self.polled.items()):
            flags = select.POLLIN | select.POLLPRI if entry.readable() else 0
            if entry.writable() and not entry.accepting:
                flags |= select.POLLOUT
            if flags:
                pollster.register(descriptor, flags)
        return pollster.poll(int(timeout_s * 1000))


def _drain(loop: Loop, listeners: Sequence[Any], *, replaced: bool) -> None:
    """Finish the requests that have begun, and accept nothing new.

    Where this process was ``replaced``, the new one accepts connections meanwhile; clients that keep one open here get
    one more answer, which says that it is the last, and a request that has arrived in part is awaited. Where the whole
    service ends, only what has arrived whole is answered. What is not done after :data:`GRACE_S` (:data:`LEAVE_S` where
    replaced) is cut off and logged.
    """

    def over() -> bool:
        return not (_busy(loop) or (replaced and loop.connections.receiving))

    now, grace_s = time.monotonic(), LEAVE_S if replaced else GRACE_S
    if not replaced:
        _turn_until(now + SETTLE_S, loop, lambda: False)
    for listener in listeners:
        wasyncore.dispatcher.close(listener)
    if replaced:
        _turn_until(now + LINGER_S, loop, lambda: not (loop.connections.idle or _busy(loop)))
    if not _turn_until(now + grace_s, loop, over):
        log.warning("Requests that took longer than %g s were cut off.", grace_s)


def _turn_until(deadline: float, loop: Loop, done: Callable[[], bool]) -> bool:
    """Serve until ``done`` or the deadline; return whether it was ``done``."""
    while not done():
        if time.monotonic() >= deadline:
            return False
        loop.turn(0.05)
    return True


def _busy(loop: Loop) -> bool:
    """Return whether a request is being answered, or an answer is not sent yet."""
    channels = [entry for entry in loop.polled.values() if isinstance(entry, Channel)]
    return any(channel.requests or channel.total_outbufs_len for channel in channels)


def _yielding(accept: Callable[[], None], share: Share) -> Callable[[], None]:
    """Return ``accept``, which lets other processes that share the socket go first where they have fewer."""

    def handle() -> None:
        share.give_way()
        accept()

    return handle


def _without_address(record: logging.LogRecord) -> bool:
    """Leave the address out of what waitress logs of a failed request: it may contain a token."""
    record.msg = _ADDRESS.sub(r"\1 a request", str(record.msg))
    return True


def _raise_file_limit(connections: int) -> None:
    """Let the process open a file for each connection, and one for what that waits for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * connections + 256
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard) if hard > 0 else needed, hard))


class _DispatcherWithHealthThread(Dispatcher):
    """Gives requests for :data:`ALIVE` to a thread of their own, so that they never wait for others."""

    def __init__(self, threads: int, slots: int) -> None:
        super().__init__(threads, slots)
        self._alive = Dispatcher(1, 1)

    def add_task(self, task: Any) -> None:
        path = getattr(task.requests[0], "path", None)  # which a request that could not be parsed has not
        if path == ALIVE:
            self._alive.add_task(task)
        else:
            super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        self._alive.shutdown(cancel_pending, timeout)
        return super().shutdown(cancel_pending, timeout)


class _JSONErrorTask(ErrorTask):
    """Answers what never reaches the application, in the API's error shape."""

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
    """Answers one request. Where the process is stopping, it is the last one of its connection (RFC 9112, 9.6)."""

    def build_response_header(self) -> bytes:
        server: Any = self.channel.server
        if server.stop.closing:
            request: Any = self.request
            request.headers["CONNECTION"] = "close"
        return super().build_response_header()


class _Channel(Channel):
    """A connection whose requests are answered by the tasks above."""

    task_class = _Task
    error_task_class = _JSONErrorTask
