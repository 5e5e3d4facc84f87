"""Connections for drivers: guarded, to the server of the call's own account, for components that declare it.

What the asker does for the process of a call, and what it refuses to do.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import orjson
import pytest

from webapp.kit.clock import Deadline
from webapp.service.components.broker import HEAD_BYTES, Broker, connected
from webapp.service.components.brokered_http import BrokeredHttp, BrokerLine
from webapp.service.components.calls import AccountGrant, Call
from webapp.service.components.errors import HttpError
from webapp.service.components.limits import BODY_BYTES
from webapp.service.components.wire import frame
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.placements import Placement

Open = Callable[..., Any]
SECRET = "canary-s3cret/with space"


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def component(tmp_path: Path) -> Path:
    path = tmp_path / "1.0.0.py"
    path.write_text("class A:\n    reads_secrets = True\n")
    return path


def call(component: Path, server: socket.socket, *allowed: str) -> Call:
    grant = AccountGrant({"host": "127.0.0.1", "port": str(server.getsockname()[1])})
    return Call(str(component), accounts={"a": grant}, allow_hosts=allowed)


def test_the_accounts_own_server_is_reached(component: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    outcome = connected(call(component, server, f"127.0.0.1:{port}"), "127.0.0.1", port, Deadline(2))
    assert isinstance(outcome, socket.socket) and outcome.gettimeout() is None
    outcome.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.1", "example.com", "127.1"])
def test_nobody_else_is(component: Path, server: socket.socket, host: str) -> None:
    port = server.getsockname()[1]
    outcome = connected(call(component, server), host, port, Deadline(2))
    assert isinstance(outcome, Failure) and outcome.kind == "refused_by_guard"


def test_only_a_component_that_declares_it_gets_one(component: Path, server: socket.socket) -> None:
    component.write_text("class A:\n    pass\n")
    port = server.getsockname()[1]
    outcome = connected(call(component, server, f"127.0.0.1:{port}"), "127.0.0.1", port, Deadline(2))
    assert isinstance(outcome, Failure) and "reads_secrets = True" in outcome.sentence


def test_a_server_that_does_not_answer_is_a_sentence(component: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    asked = call(component, server, f"127.0.0.1:{port}")
    server.close()
    outcome = connected(asked, "127.0.0.1", port, Deadline(2))
    assert outcome == Failure("connect", "127.0.0.1 accepts no connection. Check the address, or try again later.")


@contextmanager
def served(broker: Broker) -> Iterator[None]:
    """Answers until the block is over."""

    def serve() -> None:
        while broker.fileno() >= 0:
            broker.answer(time.monotonic() + 5)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        broker.far.close()
        thread.join()
        broker.close()


@pytest.fixture
def sent() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def broker(tiny: Any, stranger: Any, sent: list[dict[str, Any]]) -> Iterator[Broker]:
    call = Call("x.py", accounts={"a": tiny.grant()}, allow_hosts=(tiny.netloc, stranger.netloc))
    broker = Broker(call, sent.append)
    with served(broker):
        yield broker


def client(broker: Broker, prop: str | None = "a") -> BrokeredHttp:
    return BrokeredHttp(BrokerLine(broker.far.fileno()), prop, lambda: 5.0)


def test_a_request_is_sent_with_the_credential_and_its_answer_comes_back(broker: Broker) -> None:
    answer = client(broker).post("/things", params={"a": ["x", 1]}, json={"b": "ü"}, headers={"X-Own": "1"})
    said = answer.json()
    assert (said["method"], said["path"], said["body"]) == ("POST", "/api/things?a=x&a=1", '{"b":"\\u00fc"}')
    assert (said["headers"]["X-Key"], said["headers"]["X-Own"]) == (SECRET, "1")
    assert (answer.content_type, answer.headers["Content-Type"]) == ("application/json", "application/json")
    large = b"x" * 3_000_000
    assert len(client(broker).put("/x", data=large).json()["body"]) == len(large)
    assert client(broker).post("/x", data={"f": [1, None, "ä"]}).json()["body"] == "f=1&f=None&f=%C3%A4"
    assert client(broker).get("/x", max_bytes=4).body == b'{"me'


def test_a_credential_in_the_address_does_not_come_back_with_the_answer(tiny: Any) -> None:
    grant = AccountGrant(
        {"key": SECRET, "site": "acme"},
        tiny.base,
        placements=(Placement("query", "key", "{key}"),),
        allowed_hosts=(tiny.netloc,),
        secrets=("key",),
    )
    broker = Broker(Call("x.py", accounts={"a": grant}, allow_hosts=(tiny.netloc,)), lambda _: None)
    with served(broker):
        answer = client(broker).get("/x", params={"site": "acme"})
    assert quote_plus(SECRET) in answer.json()["path"] and answer.url.startswith(f"{tiny.base}/x?")
    assert "site=acme" in answer.url and "canary" not in answer.url


def test_without_an_account_nothing_goes_along(broker: Broker, tiny: Any) -> None:
    for prop in (None, "another"):
        assert "X-Key" not in client(broker, prop).get(f"{tiny.base}/x").json()["headers"]
        with pytest.raises(HttpError, match="is not a whole address"):
            client(broker, prop).get("/x")


def test_what_fails_is_said_as_where_the_credential_is(broker: Broker, sent: list[dict[str, Any]]) -> None:
    with pytest.raises(HttpError, match="status 401: No such project") as caught:
        client(broker).get("/fails/401")
    assert caught.value.status == 401
    assert sent == [{"refused": "a", "repeatable": True}]
    with pytest.raises(HttpError, match="is not on the public internet"):
        client(broker).get("http://10.0.0.1/x")
    with pytest.raises(HttpError, match="request method"):
        client(broker).request("TRACE", "/x")
    with pytest.raises(HttpError, match="line break"):
        client(broker).get("/x", headers={"X": "a\r\nHost: b"})


def test_what_cannot_travel_is_a_sentence_and_the_conversation_continues(broker: Broker) -> None:
    with pytest.raises(HttpError, match="cannot be sent"):
        client(broker).get("/\ud800")
    with pytest.raises(HttpError, match="too much"):
        client(broker).post("/x", data=bytes(BODY_BYTES + 1))
    assert client(broker).get("/x").ok


GOOD: dict[str, Any] = {
    "prop": None, "left_s": 1.0, "method": "GET", "url": "/", "params": [], "headers": {}, "has_body": False,
    "is_json": False, "form": None, "auth": None, "max_bytes": None, "size": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\xff" * 64,
        frame(b"no JSON"),
        frame(orjson.dumps({**GOOD, "size": -1})),
        frame(orjson.dumps({**GOOD, "size": BODY_BYTES + 1})),
        frame(orjson.dumps({**GOOD, "more": 1})),
        frame(orjson.dumps({**GOOD, "url": 1})),
        frame(orjson.dumps({**GOOD, "headers": {"a": ["b"]}})),
        (HEAD_BYTES + 1).to_bytes(4, "big"),
    ],
)
def test_what_is_no_request_ends_the_conversation(tiny: Any, rubbish: bytes) -> None:
    broker = Broker(Call("x.py", accounts={"a": tiny.grant()}), print)
    broker.far.sendall(rubbish)
    broker.answer(time.monotonic() + 5)
    assert broker.fileno() < 0


def test_one_that_stops_in_the_middle_is_left_at_the_deadline() -> None:
    broker = Broker(Call("x.py"), print)
    broker.far.sendall(b"\0")
    began = time.monotonic()
    broker.answer(began + 0.05)
    assert broker.fileno() < 0 and time.monotonic() - began < 1
    broker.close()
