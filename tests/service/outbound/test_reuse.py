"""Connections are used again by one lane, for what may be repeated, to an address that was just permitted."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import pytest

from webapp.kit.clock import Deadline
from webapp.service.outbound import reuse, transport
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.guard import Guard, Target
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.reuse import MOST_PER_LANE, Standings

Get = Callable[..., Response | Failure]


class Provider(ThreadingHTTPServer):
    """Keeps connections and counts them; hangs up without a word after so many answers."""

    daemon_threads = True
    connections, answers_each = 0, 1_000
    is_done = threading.Event()  # with saying more than an answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Provider

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.left = self.server.answers_each

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.left == 0:
            self.close_connection = True
            return
        self.left -= 1
        body = b"x" * (3_000_000 if "large" in self.path else 3)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if "close" in self.path:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        if "more" in self.path:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
            self.server.is_done.set()

    do_POST = do_PUT = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def standings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Standings]:
    fresh = Standings()
    monkeypatch.setattr(transport, "STANDINGS", fresh)
    yield fresh
    for standing in list(fresh._kept):
        standing.close()


@pytest.fixture
def get(provider: Provider, standings: Standings) -> Get:
    port = provider.server_address[1]
    client = OutboundClient(Guard((f"127.0.0.1:{port}",)), user_agent="x")

    def request(path: str = "/", lane: str = "ada", method: str = "GET", **more: Any) -> Response | Failure:
        return client.request(method, f"http://127.0.0.1:{port}{path}", lane=lane, deadline_s=5, **more)

    return request


def is_ok(outcome: Response | Failure) -> bool:
    return isinstance(outcome, Response) and outcome.body == b"xxx"


def test_one_lane_uses_its_connection_again_and_no_other_does(get: Get, provider: Provider) -> None:
    assert all(is_ok(get()) for _ in range(3))
    assert is_ok(get(method="PUT", data=b"12")) and provider.connections == 1
    assert is_ok(get(lane="bob")) and provider.connections == 2
    assert is_ok(get(lane="")) and is_ok(get(lane="")) and provider.connections == 4


def test_what_may_not_be_repeated_gets_a_fresh_one(get: Get, provider: Provider) -> None:
    assert is_ok(get()) and is_ok(get(method="POST", data=b"1")) and is_ok(get(method="POST", data=b"1"))
    assert provider.connections == 3
    assert is_ok(get()) and provider.connections == 3


@pytest.mark.parametrize(("path", "more"), [("/close", {}), ("/large", {"max_bytes": 5, "cut": True})])
def test_one_that_is_not_whole_and_quiet_is_not_used(
    get: Get, provider: Provider, path: str, more: dict[str, Any]
) -> None:
    get(path, **more)
    assert is_ok(get()) and provider.connections == 2


def test_what_is_said_beyond_an_answer_is_no_answer_to_the_next(get: Get, provider: Provider) -> None:
    get("/more")
    assert provider.is_done.wait(5)
    assert is_ok(get())


def test_one_that_is_hung_up_on_in_the_middle_is_replaced(
    get: Get, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.answers_each = 1
    assert all(is_ok(get()) for _ in range(4))
    assert provider.connections == 4


def test_an_address_that_is_no_longer_permitted_is_left(get: Get, provider: Provider, standings: Standings) -> None:
    assert is_ok(get())
    target = Guard(("127.0.0.1",)).pin(_url(provider), Deadline(1))
    assert not isinstance(target, Failure)
    elsewhere = Target(target.url, (ip_address("127.0.0.2"),))
    assert standings.take("ada", elsewhere) is None
    kept = standings.take("ada", target)
    assert kept is not None and standings.take("ada", target) is None
    kept.close()


def test_few_are_kept_and_not_for_long(
    get: Get, provider: Provider, standings: Standings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(MOST_PER_LANE + 2):
        assert is_ok(get(method="POST", data=b"1"))
    assert len(standings._kept) == MOST_PER_LANE
    monkeypatch.setattr(reuse, "IDLE_S", -1.0)
    assert is_ok(get()) and provider.connections == MOST_PER_LANE + 3
    get(lane="bob")
    assert len(standings._kept) == 1


def _url(provider: Provider) -> Any:
    return Guard(("127.0.0.1",)).check(f"http://127.0.0.1:{provider.server_address[1]}/")
