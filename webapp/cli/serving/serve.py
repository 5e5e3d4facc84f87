"""``patchbay serve``, and ``patchbay web``, ``worker`` and ``runner``, each of which is a part of it.

``patchbay serve`` runs everything in a few small processes. It forks them before any thread or connection exists, and
opens no database itself. It prints exactly one line to standard output: the address to open, once the service answers.
The parts run by themselves: with the embedded database one of each on its folder; on PostgreSQL any number, on any
number of machines. What this module imports delays the first process, the runner; the rest is imported beside it.
"""

import atexit
import errno
import gc
import http.client
import importlib
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from webapp.cli.options import settings_from_env
from webapp.cli.serving import process, process_types
from webapp.cli.serving.listeners import listen, reason, shares
from webapp.cli.serving.logs import configure
from webapp.cli.serving.process import LEAVE, Child, WorkFailed, start_work
from webapp.cli.serving.supervisor import Supervisor
from webapp.kit import scratch
from webapp.kit.scratch import Scratch
from webapp.service.components.wire import SOCKET
from webapp.service.domain.base import limit_counters
from webapp.settings import Settings
from webapp.store import lock_files
from webapp.store.lock_files import RoleLock

PORT_S = lock_files.PATIENCE_S  # a web process that was still starting, or stands still, has the port for as long
_LONGEST = 90  # a socket's path may have 107 bytes (unix(7)), of which its first name takes some more
PORT = click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on, instead of PATCHBAY_PORT.")
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


@click.command()
@PORT
def serve(port: int | None) -> None:
    """Serve everything: web, worker and, on this machine, the sandbox. Prints the address to open."""
    settings = begin_process(port)
    embedded = _embedded(settings)
    # When a supervisor has died, its web process still finishes its requests and its worker ends: a new web process
    # need not wait for them, but a new worker does.
    worker_lock, web_lock = lock_files.WorkerLock(embedded, wait=False), lock_files.WebLock(embedded)
    patience_s = PORT_S if worker_lock.is_succession or web_lock.is_succession else 0.0
    web_sockets = _listening_on(settings.host, settings.port, "PATCHBAY_PORT", patience_s)
    sandbox_sockets = (
        _listening_on(settings.host, settings.sandbox_port, "PATCHBAY_SANDBOX_PORT", patience_s)
        if settings.sandbox
        else []
    )
    sockets = [*web_sockets, *sandbox_sockets]
    private = Scratch("patchbay-serve-")  # on a path short enough for a socket
    address, wakeup = private.path / SOCKET, process_types.Wakeup.new()
    runner = Child("runner", _with((), sockets, partial(process_types.runner, address)))
    web = _with(
        web_sockets,
        [*sandbox_sockets, worker_lock],
        partial(process_types.web, settings, web_sockets, wakeup.wake, address, lock=web_lock),
    )
    worker = _with((), [*sockets, web_lock], partial(process_types.worker, settings, wakeup, address, lock=worker_lock))

    def announce_end() -> None:
        worker_lock.announce_end()
        web_lock.announce_end()

    supervisor = Supervisor(
        [runner, *web_children(settings, web), Child("worker", worker, process_types.WORKER)],
        partial(configure, settings.log_level, form=settings.log_format),
        announce_end,
        settings.drain_s,
    )
    gc.disable()  # what is imported from here on is no garbage; each process enables it for itself
    supervisor.start(runner)
    try:
        prepared = _prepared(settings, address)
    except BaseException:
        supervisor.end()
        private.close()
        raise
    database_lock = lock_files.share(settings.database)  # even while a process of ours is started again
    if settings.sandbox:
        client = process_types.SandboxClient(**prepared["sandbox"])
        run = partial(process_types.sandbox, settings, sandbox_sockets, client)
        supervisor.children.append(
            Child("sandbox", _with(sandbox_sockets, [*web_sockets, worker_lock, web_lock], run), process_types.SANDBOX)
        )
    code = supervisor.run(Announcement(settings, web_sockets[0], prepared["start_token"]))
    for open_socket in (*sockets, wakeup.sender, wakeup.receiver):
        open_socket.close()
    os.close(database_lock)
    worker_lock.close()
    web_lock.close()
    private.close()
    raise SystemExit(code)


def _prepared(settings: Settings, runner: Path) -> dict[str, Any]:
    """Return what :func:`process_types.prepare` gives; what the processes share is imported meanwhile."""
    work = start_work(partial(process_types.prepare, settings, runner))
    for name in process_types.WEB:
        importlib.import_module(name)
    try:
        return work.result()
    except WorkFailed as error:
        raise click.ClickException(str(error)) from error


def _with(
    keep: Sequence[socket.socket], drop: Sequence[socket.socket | RoleLock], run: Callable[..., None]
) -> Callable[..., None]:
    """Return ``run`` without the sockets and locks to ``drop``, which are free once their own process has ended."""

    def child(stop: Any, **further: Any) -> None:
        for unneeded in drop:
            unneeded.close()
        try:
            run(stop, **further)
        finally:
            for listener in keep:
                listener.close()

    return child


@click.command()
@PORT
def web(port: int | None) -> None:
    """Serve only the dashboard, the API and the Connect Link."""
    settings = begin_process(port)
    address, web_lock = _runner_address(settings), lock_files.WebLock(_embedded(settings))
    sockets = _listening_on(settings.host, settings.port, "PATCHBAY_PORT")
    click.echo(f"Patchbay answers at {settings.public_url}")
    run = partial(process_types.web, settings, sockets, lambda: None, address)
    if settings.web == 1:
        stop = process_types.stop_on_signals(settings.drain_s)
        stop.then(web_lock.announce_end)
        run(stop)
        return
    raise SystemExit(_supervised(settings, web_children(settings, run), web_lock.announce_end))


@click.command()
def worker() -> None:
    """Do only the work that is due, in this process."""
    settings = begin_process(None)
    address, worker_lock = _runner_address(settings), lock_files.WorkerLock(_embedded(settings))
    wakeup, stop = process_types.Wakeup.new(), process_types.stop_on_signals()
    stop.then(worker_lock.announce_end)
    try:
        process_types.worker(settings, wakeup, address, stop)
    finally:
        wakeup.sender.close()
        wakeup.receiver.close()
        worker_lock.close()


@click.command()
def runner() -> None:
    """Only run components, for the web processes and the worker of this machine."""
    settings = begin_process(None)
    address = _runner_address(settings)
    if address is None:
        raise click.ClickException(
            "Set PATCHBAY_RUNNER to a folder for the runner's socket, the same for the web processes and the worker."
        )
    if not scratch.is_free(address.parent):
        raise click.ClickException(f"A runner already listens in {address.parent}; stop it first.")
    raise SystemExit(_supervised(settings, [Child("runner", partial(process_types.runner, address))]))


def begin_process(port: int | None) -> Settings:
    """Set this process up, and return its settings.

    Where several processes count limits in memory, they are in memory that all of them share.
    """
    signal.signal(LEAVE, lambda *_: None)  # by default it would end a process that has nothing to replace
    settings = settings_from_env(port)
    configure(settings.log_level, form=settings.log_format)
    process.limit_spare_memory()
    process.collect_garbage_rarely()
    if settings.web > 1 and settings.limits_storage == limit_counters.MEMORY:
        return replace(settings, limits_storage=limit_counters.create_shared())
    return settings


def web_children(settings: Settings, run: Callable[..., None]) -> list[Child]:
    """Return the web processes, which all ``run`` the same on the same sockets."""
    share_metrics(settings)
    names = ["web"] if settings.web == 1 else [f"web-{number}" for number in range(1, settings.web + 1)]
    each = zip(names, shares(settings.web), strict=True)
    return [Child(name, partial(run, share=share), process_types.WEB, answers=True) for name, share in each]


def share_metrics(settings: Settings) -> None:
    """Let ``/metrics`` of each web process answer with the sums of all, where there are several.

    The library of Prometheus writes a file for each process to the folder that its own variable names, and keeps what
    was counted by processes that have ended. It reads the variable when it is imported, which happens only in web
    processes, forked later. The folder is removed when this process ends.
    """
    if settings.web > 1 and settings.metrics_token:
        scratch = Scratch("patchbay-metrics-")
        os.environ[METRICS_FOLDER] = str(scratch.path)
        atexit.register(scratch.close)


def _listening_on(host: str, port: int, setting: str, patience_s: float = 0.0) -> list[socket.socket]:
    """Return a socket on every address of ``host``; for ``patience_s`` seconds a process that ends may still have it.

    Raises an error that names ``setting``.
    """
    ends = time.monotonic() + patience_s
    while True:
        try:
            return listen(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() >= ends:
                raise click.ClickException(
                    f"Port {port} on {host} cannot be used ({reason(error)}); stop what uses it, or set {setting} to "
                    "another."
                ) from error
        time.sleep(0.02)


def _supervised(settings: Settings, children: list[Child], before_end: Callable[[], None] = lambda: None) -> int:
    configure_logs = partial(configure, settings.log_level, form=settings.log_format)
    return Supervisor(children, configure_logs, before_end, settings.drain_s).run(lambda: True)


def _embedded(settings: Settings) -> Path | None:
    """Return the database's file; None where it is on a server."""
    return None if settings.database_url else settings.database


def _runner_address(settings: Settings) -> Path | None:
    """Return the runner's socket, in a folder that only this user may enter; None for a runner of the process's own."""
    folder = settings.runner
    if folder is None:
        return None
    if len(os.fsencode(folder)) > _LONGEST:
        raise click.ClickException(f"PATCHBAY_RUNNER is too long for a socket; {_LONGEST} characters are enough.")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.stat()
    if facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        raise click.ClickException(
            f"{folder} must belong to the user who runs Patchbay, with mode 700: whoever enters it runs code."
        )
    return folder / SOCKET


class Announcement:
    """Prints the address to open as soon as the health check answers, and returns whether it did."""

    def __init__(self, settings: Settings, listener: socket.socket, start_token: str | None) -> None:
        host, port = listener.getsockname()[:2]
        self._host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # an address to call
        self._port = port
        self._url = (
            f"{settings.public_url}/start?token={quote(start_token)}" if start_token else f"{settings.public_url}/"
        )

    def __call__(self) -> bool:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=2)
        try:
            connection.request("GET", "/healthz")
            ready = connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        if ready:
            click.echo(f"Patchbay is ready: {self._url}")
        return ready
