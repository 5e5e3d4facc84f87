"""``patchbay serve``: everything, in a few small processes. ``patchbay web`` and ``patchbay worker``: a part of them.

The supervisor forks before any thread or connection exists and opens no database itself. Exactly one line goes to
standard output: the address to open, once the service answers.

What is imported here stands between the command and its runner, which starts first; the rest is loaded beside it.
"""

import gc
import importlib
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from webapp.cli.options import settings_from_env
from webapp.cli.serving import allocation, roles
from webapp.cli.serving.announcement import Announcement
from webapp.cli.serving.children import Child
from webapp.cli.serving.forked import Failed, begin
from webapp.cli.serving.listening import listen, reason
from webapp.cli.serving.logs import configure
from webapp.cli.serving.shares import shares
from webapp.cli.serving.supervisor import Supervisor
from webapp.kit.scratch import Scratch
from webapp.service.components.wire import SOCKET
from webapp.service.domain.base import limit_storage, shared_counters
from webapp.settings import Settings
from webapp.store import presence

PORT = click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on, instead of PATCHBAY_PORT.")


@click.command()
@PORT
def serve(port: int | None) -> None:
    """Serve everything: web, worker and, on this machine, the sandbox. Prints the address to open."""
    settings = _begin(port)
    place = presence.WorkersPlace(settings.database)
    web_sockets = _listen(settings.host, settings.port, "PATCHBAY_PORT")
    sandbox_sockets = _listen(settings.host, settings.sandbox_port, "PATCHBAY_SANDBOX_PORT") if settings.sandbox else []
    sockets = [*web_sockets, *sandbox_sockets]
    private = Scratch("patchbay-serve-")  # on a path short enough for a socket
    address, wakeup = private.path / SOCKET, roles.Wakeup.new()
    runner = Child("runner", _with((), sockets, partial(roles.runner, address)))
    web = _with(web_sockets, sandbox_sockets, partial(roles.web, settings, web_sockets, wakeup.wake, address))
    worker = _with((), sockets, partial(roles.worker, settings, wakeup, address))
    supervisor = Supervisor(
        [runner, *_webs(settings, web), Child("worker", worker, roles.WORKER)],
        partial(configure, settings.log_level, form=settings.log_format),
        place.end,
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
    present = presence.arrive(settings.database)  # even while a process of ours is started again
    if settings.sandbox:
        run = partial(roles.sandbox, settings, sandbox_sockets, roles.SandboxClient(**prepared["sandbox"]))
        supervisor.children.append(Child("sandbox", _with(sandbox_sockets, web_sockets, run), roles.SANDBOX))
    code = supervisor.run(Announcement(settings, web_sockets[0], prepared["start_token"]))
    for open_socket in (*sockets, wakeup.sender, wakeup.receiver):
        open_socket.close()
    os.close(present)
    place.leave()
    private.close()
    raise SystemExit(code)


@click.command()
@PORT
def web(port: int | None) -> None:
    """Serve the dashboard, the API and the Connect Link alone."""
    settings = _begin(port)
    sockets = _listen(settings.host, settings.port, "PATCHBAY_PORT")
    click.echo(f"Patchbay answers at {settings.public_url}")
    drain_s = settings.drain_s
    run = partial(roles.web, settings, sockets, lambda: None, None)
    if settings.web == 1:
        run(roles.alone(drain_s))
        return
    configure_logs = partial(configure, settings.log_level, form=settings.log_format)
    raise SystemExit(Supervisor(_webs(settings, run), configure_logs, drain_s=drain_s).run(lambda: True))


@click.command()
def worker() -> None:
    """Do the work that is due, alone, in this process."""
    settings = _begin(None)
    place = presence.WorkersPlace(settings.database)
    wakeup, stop = roles.Wakeup.new(), roles.alone()
    stop.then(place.end)
    try:
        roles.worker(settings, wakeup, None, stop)
    finally:
        wakeup.sender.close()
        wakeup.receiver.close()
        place.leave()


def _begin(port: int | None) -> Settings:
    """The settings. Limits that are counted in memory are, where several processes count, in memory that they share."""
    settings = settings_from_env(port)
    configure(settings.log_level, form=settings.log_format)
    allocation.hold_little()
    allocation.collect_rarely()
    if settings.web > 1 and settings.limits_storage == limit_storage.MEMORY:
        return replace(settings, limits_storage=shared_counters.create())
    return settings


def _webs(settings: Settings, run: Callable[..., None]) -> list[Child]:
    """The web processes, all of which do the same on the same sockets."""
    names = ["web"] if settings.web == 1 else [f"web-{number}" for number in range(1, settings.web + 1)]
    each = zip(names, shares(settings.web), strict=True)
    return [Child(name, partial(run, share=share), roles.WEB, answers=True) for name, share in each]


def _listen(host: str, port: int, setting: str) -> list[socket.socket]:
    try:
        return listen(host, port)
    except OSError as error:
        raise click.ClickException(
            f"Port {port} on {host} cannot be used ({reason(error)}); stop what uses it, or set {setting} to another."
        ) from error


def _prepared(settings: Settings, runner: Path) -> dict[str, Any]:
    """What has to be ready before the other processes start; what they share is imported meanwhile."""
    from webapp.cli.serving import preparing  # takes long: the runner has begun before

    work = begin(partial(preparing.prepare, settings, runner))
    for name in roles.WEB:
        importlib.import_module(name)
    try:
        return work.result()
    except Failed as error:
        raise click.ClickException(str(error)) from error


def _with(
    keep: Sequence[socket.socket], drop: Sequence[socket.socket], run: Callable[..., None]
) -> Callable[..., None]:
    """``run`` without the sockets that are its neighbours': a port is free when its own process has left it."""

    def child(stop: Any, **further: Any) -> None:
        for listener in drop:
            listener.close()
        try:
            run(stop, **further)
        finally:
            for listener in keep:
                listener.close()

    return child
