"""What the accounts of all kinds of databases share: where and as whom to connect, what came of it, and the guard,
the deadline and the words for whoever connects.
"""

import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, get_args

from webapp.kit.clock import Deadline
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import parse_port

SSLMode = Literal["disable", "prefer", "require", "verify-full"]
MAX_ADDRESSES = 2


@dataclass(frozen=True, slots=True)
class DatabaseAccount:
    """Where and as whom to connect. `ssl_mode` as in libpq; prefer takes what the server offers."""

    host: str
    user: str
    password: str = field(repr=False)
    database: str
    port: int
    ssl_mode: SSLMode = "prefer"


@dataclass(frozen=True, slots=True)
class DatabaseOutcome:
    """ok with the server's user and version; refused: the credentials are wrong; trouble: no usable server."""

    kind: Literal["ok", "refused", "trouble"]
    sentence: str = ""
    user: str = ""
    version: str = ""


def account_of(values: Mapping[str, str], default_port: int) -> DatabaseAccount | None:
    """Where and as whom the fields ``values`` of an account sign in; None where the port is no port."""
    port = parse_port(values.get("port") or str(default_port))
    if port is None:
        return None
    return DatabaseAccount(
        host=values.get("host", ""),
        user=values.get("user", ""),
        password=values.get("password", ""),
        database=values.get("database", ""),
        port=port,
        ssl_mode=next((mode for mode in get_args(SSLMode) if mode == values.get("ssl_mode")), "prefer"),
    )


def pinned(guard: Guard, account: DatabaseAccount, deadline: Deadline) -> list[str] | DatabaseOutcome:
    """The addresses to connect to, looked up and checked once; or why there is none."""
    if "\x00" in account.user + account.password + account.database:
        return DatabaseOutcome("refused", "A field holds an invisible character. Type it again.")
    addresses = guard.pin_host(account.host, account.port, deadline)
    if isinstance(addresses, Failure):
        return DatabaseOutcome("trouble", addresses.sentence)
    return [str(address) for address in addresses[:MAX_ADDRESSES]]


def trouble(account: DatabaseAccount, what: str) -> DatabaseOutcome:
    """That the server ``what``, such as "did not answer in time"."""
    return DatabaseOutcome("trouble", f"The server {account.host} {what}. Check host and port, or try again later.")


class Watchdog:
    """Cuts a connection's socket off at the deadline, since a driver has no limit for a server that stalls."""

    def __init__(self, fileno: int, deadline: Deadline) -> None:
        self._socket = socket.socket(fileno=os.dup(fileno))
        self._timer = threading.Timer(deadline.remaining(), self._cut)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()
        self._socket.close()

    def _cut(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
