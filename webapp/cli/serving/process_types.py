"""The types of process that ``patchbay serve`` runs, and what each does until it is asked to stop: web, worker, runner,
sandbox.

Each type imports what it needs when it begins, so that importing this module costs nothing. :data:`WEB`,
:data:`WORKER` and :data:`SANDBOX` name what a supervisor imports before it forks them.
"""

import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from webapp.cli.options import sentence_of
from webapp.cli.serving import process
from webapp.cli.serving.listeners import Share
from webapp.cli.serving.logs import reopen_on_hangup
from webapp.cli.serving.process import ENDINGS, Stop
from webapp.cli.serving.supervisor import UNRECOVERABLE
from webapp.errors import Damaged
from webapp.service.components.wire import command
from webapp.setting_values import BadSetting
from webapp.settings import Settings
from webapp.store.contract import WrongSchema
from webapp.store.lock_files import RoleLock

WEB = ("webapp.app", "webapp.cli.serving.httpd")
WORKER = ("webapp.service.worker.loop",)
SANDBOX = ("webapp.sandbox.app", "webapp.cli.serving.httpd")
SANDBOX_THREADS = 4
SLOTS_WITH_SERVERS = 4


@dataclass(frozen=True, slots=True)
class Wakeup:
    """A socket pair by which a web process wakes the worker. It outlives both."""

    sender: socket.socket
    receiver: socket.socket

    @classmethod
    def new(cls) -> "Wakeup":
        """Return a new pair that never blocks."""
        sender, receiver = socket.socketpair()
        sender.setblocking(False)
        receiver.setblocking(False)
        return cls(sender, receiver)

    def wake(self) -> None:
        """Wake the process that waits at ``receiver``. A full pipe wakes it already."""
        with suppress(BlockingIOError):
            self.sender.send(b"\0")


@dataclass(frozen=True, slots=True)
class SandboxClient:
    """Our OAuth app at the sandbox, and the OAuth client of ours that the sandbox's example of a product uses."""

    client_id: str
    client_secret: str
    redirect_uri: str
    example_id: str
    example_secret: str


def prepare(settings: Settings, runner: Path) -> dict[str, Any]:
    """Bring schema and catalog up to date before the other processes start, in a separate process that then ends.

    The runner that listens at ``runner`` says what components declare. Returns what the supervisor has to know, as JSON
    carries it.
    """
    from webapp.kit.clock import now
    from webapp.people import start_tokens
    from webapp.service.catalog import app as catalog_app
    from webapp.service.components.runner import Runner
    from webapp.service.domain.access import oauth_clients
    from webapp.service.domain.accounts import oauth_apps, redirect_uris
    from webapp.service.domain.instance.opening import close_service, open_service
    from webapp.store.stores import wait_for_old_version

    wait_for_old_version(settings)
    service = open_service(settings, runner=Runner.connect(runner))
    try:
        sandbox = None
        if settings.sandbox:
            client_id, client_secret = oauth_apps.ensure_sandbox(service)
            redirect_uri = redirect_uris.of_new_client(service, catalog_app.SANDBOX)
            sandbox = asdict(SandboxClient(client_id, client_secret, redirect_uri, *oauth_clients.example(service)))
        return {"start_token": start_tokens.issue(service.store, now), "sandbox": sandbox}
    finally:
        close_service(service)


def web(
    settings: Settings,
    sockets: Sequence[socket.socket],
    wake: Callable[[], None],
    runner: Path | None,
    stop: Stop,
    share: Share | None = None,
    lock: RoleLock | None = None,
) -> None:
    """Serve the dashboard, the API and the Connect Link on ``sockets``; where several processes do, with its ``share``.

    Its part of the ``lock`` is released as soon as it accepts nothing more, so that another process may begin.
    Components run in the runner that listens at ``runner``, or without one in a runner of this process's own.
    """
    from webapp.app import create_app
    from webapp.cli.serving.httpd import serve
    from webapp.service.components.runner import Runner
    from webapp.service.domain.instance.opening import close_service, open_service
    from webapp.service.worker.catalog_reloader import CatalogReloader

    if lock is not None:
        stop.then(lock.close)
    with _one_sentence_errors():
        service = open_service(settings, runner=Runner(runner), wake=wake)
        reloader = CatalogReloader(service, builds=False)
        try:
            app = create_app(settings, service=service, stopping=lambda: stop.stopping)
            reloader.start()
            process.freeze_garbage()
            serve(
                app,
                sockets,
                threads=settings.threads,
                slots=_slots(settings),
                stop=stop,
                bounds=settings.quotas,
                proxies=settings.trusted_proxies,
                share=share,
            )
        finally:
            reloader.stop(1.0)
            close_service(service)


def _slots(settings: Settings) -> int:
    """Return how many requests compute at a time: one, or several where each waits for a database server."""
    from webapp.service.domain.base import limit_counters

    counts_here = settings.limits_storage.startswith((limit_counters.MEMORY, limit_counters.SHARED))
    return 1 if counts_here and settings.database_url is None else SLOTS_WITH_SERVERS


def worker(settings: Settings, wakeup: Wakeup, runner: Path | None, stop: Stop, lock: RoleLock | None = None) -> None:
    """Do the work that is due, whenever ``wakeup`` or the clock says so, once it has the ``lock``.

    Components run as those of :func:`web`.
    """
    from webapp.service.components.runner import Runner
    from webapp.service.worker import loop

    stop.then(wakeup.wake)
    with _one_sentence_errors():
        if lock is not None:
            lock.acquire(stopped=stop.is_set)
        if not stop.is_set():
            loop.run(settings, stop, wakeup.receiver.fileno(), Runner(runner))


def runner(path: Path, stop: Stop) -> NoReturn:
    """Be the runner that listens at ``path``.

    It is a program of its own, so that it holds no environment with keys, no thread and no module of this process.
    """
    lifeline = stop.lifeline if stop.lifeline is not None else os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(lifeline, True)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it has no log of its own
    arguments, environment = command(path, lifeline)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # one that comes now waits for the program, which unblocks it
    if stop.is_set():
        raise SystemExit(0)
    os.execve(arguments[0], arguments, environment)  # noqa: S606  # no shell is wanted


def sandbox(settings: Settings, sockets: Sequence[socket.socket], client: SandboxClient, stop: Stop) -> None:
    """Serve the built-in third party on ``sockets``."""
    from webapp.cli.serving.httpd import serve
    from webapp.kit import assets
    from webapp.sandbox.app import create_sandbox
    from webapp.sandbox.product.pages import Product
    from webapp.sandbox.product.server import Connect

    connect = Connect(_internal_url(settings), client.example_id, client.example_secret, settings.environment)
    connect.http.trust_env = False  # no proxy leads to this very machine
    app = create_sandbox(
        settings.data / "sandbox",
        settings.sandbox_url,
        client.client_id,
        client.client_secret,
        [client.redirect_uri],
        assets.templates_dir(),
        assets.static_dir(),
        example=Product(settings.public_url, connect),
    )
    serve(app, sockets, threads=SANDBOX_THREADS, stop=stop)


def _internal_url(settings: Settings) -> str:
    """Return where the web process itself listens: a proxy at the public address may have a certificate of its own."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def stop_on_signals(drain_s: float = 0.0) -> Stop:
    """Return what ends a process that runs without a supervisor, ``drain_s`` seconds after the first signal."""
    reopen_on_hangup()
    return Stop(drain_s).on(signal.SIGTERM, signal.SIGINT)


@contextmanager
def _one_sentence_errors() -> Iterator[None]:
    """Print one sentence instead of a traceback; the exit code says when starting again cannot help."""
    try:
        yield
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        print(f"Error: {sentence}", file=sys.stderr)
        sys.stderr.flush()
        raise SystemExit(UNRECOVERABLE if _is_unrecoverable(error) else os.EX_TEMPFAIL) from error


def _is_unrecoverable(error: Exception) -> bool:
    known = isinstance(error, BadSetting | RuntimeError | PermissionError | WrongSchema | Damaged)
    return known or (isinstance(error, OSError) and error.errno == errno.EROFS)
