import socket
import threading
import time
from ipaddress import ip_address

import pytest

from webapp.service.outbound.resolver import resolve


def test_finds_localhost_without_repeats() -> None:
    found = resolve("localhost", 5)
    assert ip_address("127.0.0.1") in found
    assert len(found) == len(set(found))


def test_an_unknown_name_is_an_oserror() -> None:
    with pytest.raises(OSError, match=r".+"):
        resolve("no-such-name.invalid", 10)


def test_a_hanging_look_up_is_abandoned_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def hang(*_: object, **__: object) -> list[object]:
        released.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        resolve("slow.test", 0.2)
    assert 0.15 < time.monotonic() - started < 2.2
    released.set()
