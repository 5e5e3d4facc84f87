"""Connections come about beside each other, and are let go of when nobody wants them any more."""

import select
import socket
import threading
import time
from typing import Any

import pytest

from webapp.service.components.pieces import connecting
from webapp.service.components.pieces.dialing import Dialer
from webapp.service.outbound.outcomes import Failure


def test_a_silent_server_holds_up_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    near, far = socket.socketpair()
    late, other = socket.socketpair()

    def connected(allow_hosts: Any, host: str, port: int, deadline: Any) -> socket.socket | Failure:
        if host == "silent":
            released.wait(5)
            return late
        return near if host == "good" else Failure("dns", "There is none.")

    monkeypatch.setattr(connecting, "connected", connected)
    dialer: Dialer[str] = Dialer((), time.monotonic() + 5)
    for host in ("silent", "good", "bad"):
        dialer.dial(host, host, 443)
    outcomes: dict[str, object] = {}
    while len(outcomes) < 2:
        assert select.select([dialer], [], [], 2)[0]
        outcomes.update(dialer.results())
    assert outcomes == {"good": near, "bad": Failure("dns", "There is none.")}
    dialer.close()
    released.set()
    other.settimeout(2)
    assert other.recv(1) == b""  # nobody waited for it any more
    for each in (far, near, other):
        each.close()


def test_what_came_about_and_nobody_took_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = socket.socketpair()
    monkeypatch.setattr(connecting, "connected", lambda *_: near)
    dialer: Dialer[None] = Dialer((), time.monotonic() + 5)
    dialer.dial(None, "good", 443)
    assert select.select([dialer], [], [], 2)[0]
    dialer.close()
    far.settimeout(2)
    assert far.recv(1) == b""
    far.close()
