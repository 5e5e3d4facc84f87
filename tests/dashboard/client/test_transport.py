"""A request to a service elsewhere: what is sent, and what comes back; nothing of the environment is used.

Which error an answer is: the service's own sentence for a refusal, and nothing where it failed.

One call: what every failure becomes, and what is not asked again before its time.
"""

import socket
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from webapp import errors
from webapp.dashboard.client import transport
from webapp.dashboard.client.calls import CallRecord
from webapp.dashboard.client.in_process import InProcess
from webapp.dashboard.client.transport import (
    LONGEST_WAIT,
    PATIENCE_S,
    REST,
    Answer,
    Backoff,
    Memory,
    Remembered,
    Remote,
    ServiceDown,
    Transport,
    limited_together,
)
from webapp.errors import Detail, NotFound, PatchbayError, Throttled, about
from webapp.kit import translation
from webapp.kit.clock import MINUTE, SECOND, FakeClock


@pytest.mark.parametrize("body", [b"", b'{"a": 1}'])
def test_a_request_and_its_answer(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                while not received or not received[-1].endswith(body or b"\r\n\r\n"):
                    received.append((received.pop() if received else b"") + peer.recv(65536))
                peer.sendall(b"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}")

        thread = threading.Thread(target=serve)
        thread.start()
        remote = Remote()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1/x?y=1"
        answer = remote.send("POST" if body else "GET", url, {"X-A": "1"}, body, 5.0)
        thread.join()
        remote.close()
    assert (answer.status, answer.headers["retry-after"], answer.content) == (429, "7", b"{}")
    head, _, sent = received[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/x?y=1" if body else b"GET /v1/x?y=1") and b"X-A: 1" in head and sent == body


def test_nobody_listening_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        Remote().send("GET", f"http://127.0.0.1:{port}/", {}, b"", 1.0)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.Unauthorized),
        (404, errors.NotFound),
        (405, errors.NotFound),
        (413, errors.TooLarge),
        (422, errors.Refused),
    ],
)
def test_a_refusal_keeps_its_sentence(status: int, kind: type[PatchbayError]) -> None:
    refusal = transport.of(Answer(status, {}, b'{"error": "Not so."}'))
    assert type(refusal) is kind and refusal.message == "Not so."


def test_what_is_invalid_is_reported_by_field() -> None:
    content = b'{"error": "No.", "details": [{"field": "to", "message": "It is missing."}, 5, {"field": "x"}]}'
    refusal = transport.of(Answer(400, {}, content))
    assert isinstance(refusal, errors.Invalid) and refusal.details == (Detail("to", "It is missing."),)


def test_a_limit_says_how_long_to_wait() -> None:
    refusal = transport.of(Answer(429, {"retry-after": "7", "x-ratelimit-limit": "5"}, b""))
    assert isinstance(refusal, errors.Throttled) and (refusal.retry_after, refusal.limit) == (7, 5)


@pytest.mark.parametrize("status", [500, 503, 302])
def test_a_failure_is_no_refusal(status: int) -> None:
    assert transport.of(Answer(status, {}, b"<html>")) is None


def test_a_refusal_is_put_into_the_language_of_its_reader(spoken: None) -> None:
    details = [Detail("to", "It must be at least 3."), Detail("cc", "Not ours.")]
    refusal = errors.Invalid(about("to", "It must be at least 3."), details)
    assert transport.in_language(refusal).message == "to is not valid: It must be at least 3."
    translation.speak("de")
    german = transport.in_language(refusal)
    assert isinstance(german, errors.Invalid) and german.message == "to: Es muss mindestens 3 sein."
    assert german.details == (Detail("to", "Es muss mindestens 3 sein."), Detail("cc", "Not ours."))
    conflict = transport.in_language(errors.Conflict("This trigger was deleted meanwhile."))
    assert conflict.message == "Dieser Auslöser wurde inzwischen gelöscht."


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


class Service:
    """Answers with what it is told to say, or raises it."""

    def __init__(self) -> None:
        self.says: Any = {"n": 1}
        self.patience: list[float | None] = []

    def ask(self, timeout: float | None) -> Any:
        self.patience.append(timeout)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@pytest.mark.parametrize("failure", [ServiceDown(), Throttled(10, 0, 60)])
def test_the_last_answer_is_given_again_with_its_time(failure: Exception) -> None:
    clock, service, stale = FakeClock(), Service(), list[int]()
    remembered = Remembered(clock, stale.append)
    assert remembered.read("who?", service.ask) == {"n": 1}
    at = clock()
    service.says = failure
    clock.advance(MINUTE)
    assert remembered.read("who?", service.ask) == {"n": 1}
    assert stale == [at] and service.patience == [None, PATIENCE_S]
    with pytest.raises(type(failure)):
        remembered.read("who else?", service.ask)
    service.says = {"n": 2}
    assert remembered.read("who?", service.ask) == {"n": 1} and len(service.patience) == 3
    clock.advance(REST)
    assert remembered.read("who?", service.ask) == {"n": 2} and len(stale) == 2


def test_what_is_too_old_or_was_refused_is_not_given_again() -> None:
    clock, service, stale = FakeClock(), Service(), list[int]()
    remembered = Remembered(clock, stale.append)
    remembered.read("who?", service.ask)
    service.says = NotFound()
    with pytest.raises(NotFound):
        remembered.read("who?", service.ask)
    clock.advance(10 * MINUTE)
    service.says = ServiceDown()
    with pytest.raises(ServiceDown):
        remembered.read("who?", service.ask)
    assert stale == []
