"""``patchbay serve``: everything, in a few small processes.

The supervisor forks before any thread or connection exists and opens no database itself. Exactly one line goes to
standard output: the address to open, once the service answers.

What is imported here stands between the command and its runner, which starts first; the rest is loaded beside it.
"""

import gc
import importlib
import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from webapp.cli.serving import roles
from webapp.cli.serving.announcement import Announcement
from webapp.cli.serving.beginning import PORT, begin_process, listening_on, web_children
from webapp.cli.serving.children import Child
from webapp.cli.serving.forked import Failed, begin
from webapp.cli.serving.logs import configure
from webapp.cli.serving.supervisor import Supervisor
from webapp.kit.scratch import Scratch
from webapp.service.components.wire import SOCKET
from webapp.settings import Settings
from webapp.store import presence


@click.command()
@PORT
def serve(port: int | None) -> None:
    """Serve everything: web, worker and, on this machine, the sandbox. Prints the address to open."""
    settings = begin_process(port)
    embedded = None if settings.database_url else settings.database
    place, web_place = presence.WorkersPlace(embedded), presence.WebPlace(embedded)
    web_sockets = listening_on(settings.host, settings.port, "PATCHBAY_PORT")
    sandbox_sockets = (
        listening_on(settings.host, settings.sandbox_port, "PATCHBAY_SANDBOX_PORT") if settings.sandbox else []
    )
    sockets = [*web_sockets, *sandbox_sockets]
    private = Scratch("patchbay-serve-")  # on a path short enough for a socket
    address, wakeup = private.path / SOCKET, roles.Wakeup.new()
    runner = Child("runner", _with((), sockets, partial(roles.runner, address)))
    web = _with(web_sockets, sandbox_sockets, partial(roles.web, settings, web_sockets, wakeup.wake, address))
    worker = _with((), sockets, partial(roles.worker, settings, wakeup, address))
    supervisor = Supervisor(
        [runner, *web_children(settings, web), Child("worker", worker, roles.WORKER)],
        partial(configure, settings.log_level, form=settings.log_format),
        _both(place.end, web_place.end),
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
    web_place.leave()
    private.close()
    raise SystemExit(code)


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


def _both(first: Callable[[], None], second: Callable[[], None]) -> Callable[[], None]:
    def call() -> None:
        first()
        second()

    return call


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
