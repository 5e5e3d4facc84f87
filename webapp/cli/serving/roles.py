"""What each process of ``patchbay serve`` does: web, worker, runner, sandbox. Each runs until it is told to stop.

Each imports what it needs when it begins, so that importing this module costs nothing. :data:`WEB`, :data:`WORKER` and
:data:`SANDBOX` are what a supervisor imports before it forks them.
"""

import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from webapp.cli.options import sentence_of
from webapp.cli.serving import allocation
from webapp.cli.serving.children import ENDINGS
from webapp.cli.serving.logs import on_hang_up
from webapp.cli.serving.shares import Share
from webapp.cli.serving.stopping import Stop
from webapp.cli.serving.supervisor import UNRECOVERABLE
from webapp.errors import Damaged
from webapp.service.components.wire import command
from webapp.setting_values import BadSetting
from webapp.settings import Settings
from webapp.store.contract import WrongSchema

WEB = ("webapp.app", "webapp.cli.serving.httpd")
WORKER = ("webapp.service.worker.loop",)
SANDBOX = ("webapp.sandbox.app", "webapp.cli.serving.httpd")
SANDBOX_THREADS = 4
PLACES_WITH_SERVERS = 4


@dataclass(frozen=True, slots=True)
class Wakeup:
    """A socket pair by which the web process wakes the worker. It outlives both."""

    sender: socket.socket
    receiver: socket.socket

    @classmethod
    def new(cls) -> "Wakeup":
        """A fresh pair that never blocks."""
        sender, receiver = socket.socketpair()
        sender.setblocking(False)
        receiver.setblocking(False)
        return cls(sender, receiver)

    def wake(self) -> None:
        """Wake whoever waits at ``receiver``. A full pipe wakes already."""
        with suppress(BlockingIOError):
            self.sender.send(b"\0")


def web(
    settings: Settings,
    sockets: Sequence[socket.socket],
    wake: Callable[[], None],
    runner: Path | None,
    stop: Stop,
    share: Share | None = None,
) -> None:
    """Answer the dashboard, the API and the Connect Link on ``sockets``, perhaps as one of several, with its ``share``.

    Components run in the runner that listens at ``runner``, or in one of this process's own.
    """
    from webapp.app import create_app
    from webapp.cli.serving.httpd import serve
    from webapp.service.components.runner import Runner
    from webapp.service.domain.instance.opening import close_service, open_service
    from webapp.service.worker.catalog_watch import CatalogWatch

    with _sentences():
        service = open_service(settings, runner=Runner(runner), wake=wake)
        watch = CatalogWatch(service, builds=False)
        try:
            app = create_app(settings, service=service, stopping=lambda: stop.stopping)
            watch.start()
            allocation.settle()
            serve(
                app,
                sockets,
                threads=settings.threads,
                places=_places(settings),
                stop=stop,
                bounds=settings.quotas,
                proxies=settings.trusted_proxies,
                share=share,
            )
        finally:
            watch.stop(1.0)
            close_service(service)


def _places(settings: Settings) -> int:
    """How many requests compute at a time: one, and several where each waits for a server again and again."""
    from webapp.service.domain.base import limit_counters

    counts_here = settings.limits_storage.startswith((limit_counters.MEMORY, limit_counters.SHARED))
    return 1 if counts_here and settings.database_url is None else PLACES_WITH_SERVERS


def worker(settings: Settings, wakeup: Wakeup, runner: Path | None, stop: Stop) -> None:
    """Do what is due; components run as those of :func:`web`.

    Stopping wakes it too, since the loop sleeps on ``wakeup``.
    """
    from webapp.service.components.runner import Runner
    from webapp.service.worker import loop

    stop.then(wakeup.wake)
    with _sentences():
        loop.run(settings, stop, wakeup.receiver.fileno(), Runner(runner))


def runner(path: Path, stop: Stop) -> NoReturn:
    """Be the runner that listens at ``path``. It is a program of its own, so that it holds nothing of ours: no
    environment with keys, no thread, no module above it."""
    lifeline = stop.lifeline if stop.lifeline is not None else os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(lifeline, True)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it has no log of its own
    arguments, environment = command(path, lifeline)
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # one that comes now waits for the program, which unblocks it
    if stop.is_set():
        raise SystemExit(0)
    os.execve(arguments[0], arguments, environment)  # noqa: S606  # no shell is wanted


@dataclass(frozen=True, slots=True)
class SandboxClient:
    """The one OAuth client that the sandbox knows: ours. And the client of ours that its example of a product has."""

    client_id: str
    client_secret: str
    redirect_uri: str
    example_id: str
    example_secret: str


def sandbox(settings: Settings, sockets: Sequence[socket.socket], client: SandboxClient, stop: Stop) -> None:
    """Be the built-in third party on ``sockets``."""
    from webapp.cli.serving.httpd import serve
    from webapp.kit import assets
    from webapp.sandbox.app import create_sandbox
    from webapp.sandbox.product.pages import Product
    from webapp.sandbox.product.server import Connect

    connect = Connect(_inside(settings), client.example_id, client.example_secret, settings.environment)
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


def _inside(settings: Settings) -> str:
    """Where the web process listens: what stands before the public address may have a certificate of its own."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def alone(drain_s: float = 0.0) -> Stop:
    """The end of a process that runs without a supervisor; for ``drain_s`` seconds before it says that it comes."""
    on_hang_up()
    return Stop(drain_s).on(signal.SIGTERM, signal.SIGINT)


@contextmanager
def _sentences() -> Iterator[None]:
    """Print one sentence instead of a traceback, and say by the exit code when trying again cannot help."""
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
