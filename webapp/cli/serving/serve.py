"""``patchbay serve``: everything, in a few small processes. ``patchbay web`` and ``patchbay worker``: one of them.

The supervisor forks before any thread or connection exists and opens no database itself. Exactly one line goes to
standard output: the address to open, once the service answers.
"""

import http.client
import os
import socket
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from webapp.cli.options import settings_from_env
from webapp.cli.serving import roles
from webapp.cli.serving.forked import Failed, ask
from webapp.cli.serving.httpd import listen, reason
from webapp.cli.serving.logs import configure
from webapp.cli.serving.supervisor import Child, Supervisor
from webapp.kit.clock import now
from webapp.people import start_tokens
from webapp.service.components.runner import SOCKET, Runner
from webapp.service.domain.accounts import provider_clients
from webapp.service.domain.instance.backups import DATABASE
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings
from webapp.store import presence

PORT = click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on, instead of PATCHBAY_PORT.")


@click.command()
@PORT
def serve(port: int | None) -> None:
    """Serve everything: web, worker and, on this machine, the sandbox. Prints the address to open."""
    settings = _begin(port)
    place = presence.WorkersPlace(settings.data / DATABASE)
    web_sockets = _listen(settings.host, settings.port, "PATCHBAY_PORT")
    sandbox_sockets = _listen(settings.host, settings.sandbox_port, "PATCHBAY_SANDBOX_PORT") if settings.sandbox else []
    try:
        prepared = ask(partial(_prepare, settings))
    except Failed as error:
        raise click.ClickException(str(error)) from error
    present = presence.arrive(settings.data / DATABASE)  # even while a process of ours is started again
    announce = _Announcement(web_sockets[0], _start_url(settings, prepared["start_token"]))
    wakeup = roles.Wakeup.new()
    private = tempfile.TemporaryDirectory(prefix="patchbay-")  # mode 0700, on a path short enough for a socket
    address = Path(private.name) / SOCKET
    web = partial(roles.web, settings, web_sockets, wakeup.wake, Runner.connect(address))
    children = [
        Child("runner", _with((), [*web_sockets, *sandbox_sockets], partial(roles.runner, address))),
        Child("web", _with(web_sockets, sandbox_sockets, web)),
        Child(
            "worker",
            _with(
                (), [*web_sockets, *sandbox_sockets], partial(roles.worker, settings, wakeup, Runner.connect(address))
            ),
        ),
    ]
    if settings.sandbox:
        run = partial(roles.sandbox, settings, sandbox_sockets, roles.SandboxClient(**prepared["sandbox"]))
        children.append(Child("sandbox", _with(sandbox_sockets, web_sockets, run)))
    logs = partial(configure, settings.log_level, form=settings.log_format)
    code = Supervisor(children, logs, place.end).run(announce)
    for open_socket in (*web_sockets, *sandbox_sockets, wakeup.sender, wakeup.receiver):
        open_socket.close()
    os.close(present)
    place.leave()
    private.cleanup()
    raise SystemExit(code)


@click.command()
@PORT
def web(port: int | None) -> None:
    """Serve the dashboard, the API and the Connect Link alone, in this process."""
    settings = _begin(port)
    sockets = _listen(settings.host, settings.port, "PATCHBAY_PORT")
    click.echo(f"Patchbay answers at {settings.public_url}")
    roles.web(settings, sockets, lambda: None, Runner.start(), roles.alone())


@click.command()
def worker() -> None:
    """Do the work that is due, alone, in this process."""
    settings = _begin(None)
    place = presence.WorkersPlace(settings.data / DATABASE)
    wakeup, stop = roles.Wakeup.new(), roles.alone()
    stop.then(place.end)
    try:
        roles.worker(settings, wakeup, Runner.start(), stop)
    finally:
        wakeup.sender.close()
        wakeup.receiver.close()
        place.leave()


def _begin(port: int | None) -> Settings:
    settings = settings_from_env(port)
    configure(settings.log_level, form=settings.log_format)
    return settings


def _listen(host: str, port: int, setting: str) -> list[socket.socket]:
    try:
        return listen(host, port)
    except OSError as error:
        raise click.ClickException(
            f"Port {port} on {host} cannot be used ({reason(error)}); stop what uses it, or set {setting} to another."
        ) from error


def _prepare(settings: Settings) -> dict[str, Any]:
    """Bring schema and catalog up to date, and fetch what the supervisor has to know."""
    service = open_service(settings)
    try:
        sandbox = None
        if settings.sandbox:
            client_id, client_secret = provider_clients.ensure_sandbox(service)
            sandbox = asdict(roles.SandboxClient(client_id, client_secret, provider_clients.redirect_uri(service)))
        return {"start_token": start_tokens.issue(service.store, now), "sandbox": sandbox}
    finally:
        close_service(service)


def _start_url(settings: Settings, token: str | None) -> str:
    return f"{settings.public_url}/start?token={quote(token)}" if token else f"{settings.public_url}/"


def _with(
    keep: Sequence[socket.socket], drop: Sequence[socket.socket], run: Callable[[Any], None]
) -> Callable[[Any], None]:
    """``run`` without the sockets that are its neighbours': a port is free when its own process has left it."""

    def child(stop: Any) -> None:
        for listener in drop:
            listener.close()
        try:
            run(stop)
        finally:
            for listener in keep:
                listener.close()

    return child


class _Announcement:
    """Says yes, and prints the address, as soon as the health check answers."""

    def __init__(self, listener: socket.socket, url: str) -> None:
        host, port = listener.getsockname()[:2]
        self._host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # an address to call
        self._port, self._url = port, url

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
