"""``patchbay web``, ``patchbay worker`` and ``patchbay runner``: each a part of the service alone.

With the embedded database there is one of each on its folder. On a database elsewhere any number work side by side, on
any number of machines. Web processes and workers have a runner of components of their own, or share one of their
machine, which listens in the folder PATCHBAY_RUNNER.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from webapp.cli.serving import roles
from webapp.cli.serving.beginning import PORT, begin_process, listening_on, web_children
from webapp.cli.serving.children import Child
from webapp.cli.serving.logs import configure
from webapp.cli.serving.supervisor import Supervisor
from webapp.kit import scratch
from webapp.service.components.wire import SOCKET
from webapp.settings import Settings
from webapp.store import presence

_LONGEST = 90  # a socket's path may have 107 bytes (unix(7)), of which its first name takes some more


@click.command()
@PORT
def web(port: int | None) -> None:
    """Serve the dashboard, the API and the Connect Link alone."""
    settings = begin_process(port)
    address, place = _address(settings), presence.WebPlace(_embedded(settings))
    sockets = listening_on(settings.host, settings.port, "PATCHBAY_PORT")
    click.echo(f"Patchbay answers at {settings.public_url}")
    run = partial(roles.web, settings, sockets, lambda: None, address)
    if settings.web == 1:
        stop = roles.alone(settings.drain_s)
        stop.then(place.end)
        run(stop)
        return
    raise SystemExit(_supervised(settings, web_children(settings, run), place.end))


@click.command()
def worker() -> None:
    """Do the work that is due, alone, in this process."""
    settings = begin_process(None)
    address, place = _address(settings), presence.WorkersPlace(_embedded(settings))
    wakeup, stop = roles.Wakeup.new(), roles.alone()
    stop.then(place.end)
    try:
        roles.worker(settings, wakeup, address, stop)
    finally:
        wakeup.sender.close()
        wakeup.receiver.close()
        place.leave()


@click.command()
def runner() -> None:
    """Run components alone, for the web processes and the worker of this machine."""
    settings = begin_process(None)
    address = _address(settings)
    if address is None:
        raise click.ClickException(
            "Set PATCHBAY_RUNNER to a folder for the runner's socket, the same for the web processes and the worker."
        )
    if not scratch.is_free(address.parent):
        raise click.ClickException(f"A runner already listens in {address.parent}; stop it first.")
    raise SystemExit(_supervised(settings, [Child("runner", partial(roles.runner, address))]))


def _supervised(settings: Settings, children: list[Child], before_end: Callable[[], None] = lambda: None) -> int:
    configure_logs = partial(configure, settings.log_level, form=settings.log_format)

    return Supervisor(children, configure_logs, before_end, settings.drain_s).run(lambda: True)


def _embedded(settings: Settings) -> Path | None:
    """The database's file; None where it is elsewhere."""
    return None if settings.database_url else settings.database


def _address(settings: Settings) -> Path | None:
    """The runner's socket, in a folder that this user alone may enter; None for one of the process's own."""
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
