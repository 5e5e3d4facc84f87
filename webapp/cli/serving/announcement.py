"""The one line of ``patchbay serve`` on standard output: the address to open, once the service answers."""

import http.client
import socket
from urllib.parse import quote

import click

from webapp.settings import Settings


class Announcement:
    """Says yes, and prints the address, as soon as the health check answers."""

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
