"""What ``patchbay serve`` and the commands that run a part of it begin with: settings, sockets, the web processes."""

import signal
import socket
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import click

from webapp.cli.options import settings_from_env
from webapp.cli.serving import allocation, measures, roles
from webapp.cli.serving.children import Child
from webapp.cli.serving.listening import listen, reason
from webapp.cli.serving.logs import configure
from webapp.cli.serving.shares import shares
from webapp.cli.serving.stopping import LEAVE
from webapp.service.domain.base import limit_counters
from webapp.settings import Settings

PORT = click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on, instead of PATCHBAY_PORT.")


def begin_process(port: int | None) -> Settings:
    """The settings. Limits that are counted in memory are, where several processes count, in memory that they share.

    Who asks for processes to be replaced before there are any, or where there is one alone, ends nothing.
    """
    signal.signal(LEAVE, lambda *_: None)
    settings = settings_from_env(port)
    configure(settings.log_level, form=settings.log_format)
    allocation.hold_little()
    allocation.collect_rarely()
    if settings.web > 1 and settings.limits_storage == limit_counters.MEMORY:
        return replace(settings, limits_storage=limit_counters.create_shared())
    return settings


def web_children(settings: Settings, run: Callable[..., None]) -> list[Child]:
    """The web processes, all of which do the same on the same sockets."""
    measures.share(settings)
    names = ["web"] if settings.web == 1 else [f"web-{number}" for number in range(1, settings.web + 1)]
    each = zip(names, shares(settings.web), strict=True)
    return [Child(name, partial(run, share=share), roles.WEB, answers=True) for name, share in each]


def listening_on(host: str, port: int, setting: str) -> list[socket.socket]:
    """Sockets on every address of ``host``. Raises the sentence that names ``setting``."""
    try:
        return listen(host, port)
    except OSError as error:
        raise click.ClickException(
            f"Port {port} on {host} cannot be used ({reason(error)}); stop what uses it, or set {setting} to another."
        ) from error
