"""One call: what every failure becomes, and what is not asked again before its time."""

import socket
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.client.inprocess import InProcess
from webapp.dashboard.client.remote import Answer
from webapp.dashboard.client.transport import LONGEST_WAIT, Backoff, Memory, ServiceDown, Transport, limited_together
from webapp.errors import Throttled
from webapp.kit.clock import SECOND, FakeClock


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<html", b"garbage\r\n\r\n", b""])
def test_a_remote_that_is_no_connect_service_is_down(answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        transport = Transport(f"http://127.0.0.1:{server.getsockname()[1]}")

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(ServiceDown):
            transport.call("GET", "/v1/connect/apps")
        thread.join()
        transport.close()


def test_nobody_listening_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    transport = Transport(f"http://127.0.0.1:{port}")
    with pytest.raises(ServiceDown):
        transport.call("GET", "/v1/connect/apps")
    transport.close()


def test_what_is_throttled_stops_nothing_else(clock: FakeClock) -> None:
    backoff = Backoff(clock)
    alices = limited_together("GET", "/v1/connect/proj_1/accounts/apn_1", "ctok_alice", None)
    backoff.note(alices, Throttled(5, 0, 30))
    for other in (
        limited_together("GET", "/v1/connect/proj_1/accounts/apn_1", "ctok_bob", None),
        limited_together("POST", "/v1/connect/proj_1/accounts", "ctok_alice", None),
        limited_together("GET", "/v1/connect/apps?q=accounts", "ctok_alice", None),
        limited_together("POST", "/v1/connect/proj_1/tokens", "ctok_alice", {"external_user_id": "bob"}),
    ):
        backoff.check(other)
    with pytest.raises(Throttled) as caught:
        backoff.check(limited_together("GET", "/v1/connect/proj_1/accounts?limit=5", "ctok_alice", None))
    assert caught.value.retry_after == 30


def test_a_service_that_asks_for_a_day_is_asked_again_sooner(clock: FakeClock) -> None:
    backoff = Backoff(clock)
    backoff.note("key", Throttled(5, 0, 86_400))
    clock.advance(LONGEST_WAIT - 1)
    with pytest.raises(Throttled):
        backoff.check("key")
    clock.advance(1)
    backoff.check("key")


def test_a_value_ends_with_its_lifetime() -> None:
    clock = FakeClock()
    memory: Memory[str] = Memory(clock, lifetime=30 * SECOND)
    assert memory.put("a", "1") == "1"
    memory.put("b", "2", lifetime=5 * SECOND)
    clock.advance(5 * SECOND)
    assert (memory.get("a"), memory.get("b"), memory.get("c")) == ("1", None, None)
    memory.drop("a")
    assert memory.get("a") is None


def test_the_oldest_make_room() -> None:
    memory: Memory[int] = Memory(FakeClock(), lifetime=SECOND, size=2)
    for number, key in enumerate("abac"):
        memory.put(key, number)
    assert [memory.get(key) for key in "abc"] == [2, None, 3]


class Far(InProcess):
    """A service that answers ``answer``, or nothing."""

    def __init__(self, answer: Answer | None) -> None:
        self.answer = answer

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes, timeout: float) -> Answer:
        if self.answer is None:
            raise OSError
        return self.answer


@pytest.mark.parametrize(
    ("method", "path", "params", "address"),
    [
        ("GET", "/v1/apps", {"q": "mail", "after": ""}, "/v1/apps?q=mail"),
        ("GET", "/v1/connect/tokens/ctok_canary/validate", None, "/v1/connect/tokens/…/validate"),
        ("POST", "/v1/w", {"url": "https://a.example/canary"}, "/v1/w?url=https%3A%2F%2Fa.example%2F%E2%80%A6"),
        ("GET", "/v1/apps", {"url": "https://a.example/canary"}, "/v1/apps?url=https%3A%2F%2Fa.example%2F%E2%80%A6"),
        ("DELETE", "/v1/x", {"ignored": True, "why": "canary"}, "/v1/x?ignored=true&why=%E2%80%A6"),
    ],
)  # fmt: skip
def test_the_address_that_is_noted_holds_no_secret(method: str, path: str, params: Any, address: str) -> None:
    calls: list[CallRecord] = []
    transport = Transport("https://a.example", Far(Answer(200, {}, b"")), note=calls.append)
    transport.call(method, path, token="ctok_1", params=params)
    assert [call.address for call in calls] == [address]


def test_what_is_noted_of_a_call(clock: FakeClock) -> None:
    calls: list[CallRecord] = []
    transport = Transport("https://a.example", Far(None), clock, calls.append)
    call: dict[str, Any] = {"environment": "production", "body": {"password": "canary"}}
    for more in ({"token": "at_1"}, {}, {"token": "at_1", "noted": False}):
        with pytest.raises(ServiceDown):
            transport.call("POST", "/v1/x", **call, **more)
    (record,) = calls
    assert (record.status, record.as_user, record.environment, record.at) == (0, False, "production", clock())
    assert record.failed and record.body == {"password": "…"} and "does not answer" in record.sentence
