"""A piece reaches the hosts of its rules on the usual ports, and of these what is public or was opened.

Connections come about beside each other, and are let go of when nobody wants them any more.

Bytes pass both ways within what was given credit for; each side may end its own.

Connections are guarded, bounded, and begun so many at a time.
"""

import select
import selectors
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from tests.fakes import ssrf
from tests.service.components.pieces.playing import Carried
from webapp.kit.clock import Deadline
from webapp.service.components.pieces import channels, frames
from webapp.service.components.pieces import channels as module
from webapp.service.components.pieces.channels import Channel, Dialer, TooMuch, watch
from webapp.service.components.pieces.frames import Frame
from webapp.service.components.wire import ProtocolError
from webapp.service.outbound import guard
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import parse_url

RULES = ("api.acme.example", "*.acme.example", "db.example:5433", "[2606:4700::1]", "Odd.example")
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
VALUE = frames.message({"value": 1})


@pytest.mark.parametrize(
    ("host", "port", "admitted"),
    [
        ("api.acme.example", 443, True),
        ("API.acme.EXAMPLE.", 80, True),
        ("a.b.acme.example", 443, True),
        ("acme.example", 443, False),
        ("evilacme.example", 443, False),
        ("api.acme.example.evil.test", 443, False),
        ("db.example", 5433, True),
        ("db.example", 443, False),
        ("2606:4700::1", 443, True),
        ("odd.example", 443, True),
        ("127.0.0.1", 443, False),
        ("a b", 443, False),
        ("", 443, False),
    ],
)
def test_rules_admit_hosts(host: str, port: int, admitted: bool) -> None:
    assert (channels.refusal(RULES, host, port) is None) == admitted


def test_a_refusal_names_the_host_and_whom_to_ask() -> None:
    refused = channels.refusal(RULES, "files.example", 443)
    assert refused is not None and refused.sentence.startswith("files.example is not among the hosts")


def hosts_of(vectors: list[str]) -> set[tuple[str, int]]:
    """The host and the port of each address: as our client reads them, and just as they are written."""
    urls = [parse_url(vector.format(port=8080)) for vector in vectors]
    written = [vector.split("//")[1].split("/")[0].rsplit(":{", 1)[0] for vector in vectors if "//" in vector]
    read = {(url.host, url.port) for url in urls if not isinstance(url, Failure)}
    return read | {(host.strip("[]"), 8080) for host in written}


def test_no_hostile_address_is_connected_to_though_a_rule_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.Guard.__init__, "__kwdefaults__", {"resolver": ssrf.answers})
    ssrf.listen()
    targets = hosts_of(ssrf.VECTORS)
    assert len(targets) > 60
    outcomes = {target: channels.connected((), *target, Deadline(1)) for target in targets}
    reached = {target for target, outcome in outcomes.items() if not isinstance(outcome, Failure)}
    assert (reached, ssrf.connects) == (set(), [])


def test_a_name_that_changes_its_address_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])
    dialled: list[object] = []
    monkeypatch.setattr(
        guard.Guard.__init__,
        "__kwdefaults__",
        {"resolver": lambda host, timeout_s: [ip_address(next(answers)[0])]},
    )

    def connect(addresses: tuple[object, ...], port: int, limits: object) -> socket.socket:
        dialled.extend(map(str, addresses))
        raise ConnectionRefusedError

    monkeypatch.setattr(channels, "connect", connect)
    outcome = channels.connected((), "rebind.test", 443, Deadline(1))
    assert isinstance(outcome, Failure) and outcome.kind == "connect"
    assert dialled == ["93.184.215.14"]


def test_what_the_operator_opened_is_reached_and_no_other_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        outcome = channels.connected((f"127.0.0.1:{port}",), "127.0.0.1", port, Deadline(2))
        assert type(outcome) is socket.socket  # nothing that waits by itself
        outcome.close()
    refused = channels.connected((), "127.0.0.1", port, Deadline(2))
    closed = channels.connected((f"127.0.0.1:{port}",), "127.0.0.1", port, Deadline(2))
    assert isinstance(refused, Failure) and isinstance(closed, Failure)
    assert (refused.kind, closed.kind) == ("refused_by_guard", "connect")
    other = channels.connected((), "93.184.215.14", 79, Deadline(2))
    assert isinstance(other, Failure) and other.kind == "refused_by_guard"


def test_a_silent_server_holds_up_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    near, far = socket.socketpair()
    late, other = socket.socketpair()

    def connected(allow_hosts: Any, host: str, port: int, deadline: Any) -> socket.socket | Failure:
        if host == "silent":
            released.wait(5)
            return late
        return near if host == "good" else Failure("dns", "There is none.")

    monkeypatch.setattr(channels, "connected", connected)
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
    monkeypatch.setattr(channels, "connected", lambda *_: near)
    dialer: Dialer[None] = Dialer((), time.monotonic() + 5)
    dialer.dial(None, "good", 443)
    assert select.select([dialer], [], [], 2)[0]
    dialer.close()
    far.settimeout(2)
    assert far.recv(1) == b""
    far.close()


class Wired:
    """A channel with a server, and what it sent to the host."""

    def __init__(self) -> None:
        self.inbox = bytearray()
        self.channel = Channel(5, self.inbox.extend)
        server, self.far = socket.socketpair()
        for each in (server, self.far):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        self.channel.open(server)
        self.far.settimeout(2)

    def take(self, kind: bytes, payload: bytes = b"") -> None:
        self.channel.take(Frame(kind, 5, payload))

    def sent(self) -> list[tuple[bytes, bytes]]:
        frames_sent = []
        while (frame := frames.take(self.inbox)) is not None:
            assert frame.channel == 5
            frames_sent.append((frame.kind, frame.payload))
        return frames_sent


@pytest.fixture
def wired() -> Iterator[Wired]:
    wires = Wired()
    yield wires
    wires.channel.release()
    wires.far.close()


def test_bytes_pass_both_ways_and_each_side_ends_its_own(wired: Wired) -> None:
    wired.take(frames.DATA, b"question")
    wired.take(frames.END)
    assert (wired.far.recv(99), wired.far.recv(99)) == (b"question", b"")
    wired.far.sendall(b"answer")
    wired.far.close()
    assert (wired.channel.read(), wired.channel.read(), wired.channel.is_closed) == (6, 0, True)
    credit = (8).to_bytes(4, "big")
    assert wired.sent() == [(b"O", b"{}"), (b"W", credit), (b"D", b"answer"), (b"E", b"")]


def test_what_waits_for_its_connection_is_sent_then() -> None:
    channel = Channel(1, bytearray().extend)
    channel.take(Frame(frames.DATA, 1, b"early"))
    server, far = socket.socketpair()
    channel.open(server)
    channel.write()
    assert far.recv(99) == b"early"
    channel.release()
    far.close()


def test_a_host_is_given_credit_for_what_the_server_took(wired: Wired) -> None:
    block = bytes(frames.DATA_BYTES)
    for _ in range(frames.WINDOW // frames.DATA_BYTES):
        wired.take(frames.DATA, block)
    assert wired.channel.events(False) == 3  # to read, and to write the rest
    with pytest.raises(ProtocolError):
        wired.take(frames.DATA, b"x" * frames.WINDOW)
    received = 0
    while received < frames.WINDOW:
        received += len(wired.far.recv(65_536))
        wired.channel.write()
    credits = [payload for kind, payload in wired.sent() if kind == b"W"]
    assert sum(int.from_bytes(payload, "big") for payload in credits) == frames.WINDOW


def test_a_server_is_read_as_far_as_the_host_gave_credit(wired: Wired) -> None:
    wired.channel._credit = 3
    wired.far.sendall(b"abcdef")
    assert wired.channel.read() == 3
    assert wired.channel.events(False) == 0
    wired.take(frames.CREDIT, (9).to_bytes(4, "big"))
    assert (wired.channel.events(True), wired.channel.events(False), wired.channel.read()) == (0, 1, 3)


@pytest.mark.parametrize("breaks", ["reading", "writing"])
def test_a_connection_that_breaks_off_is_reported(wired: Wired, breaks: str) -> None:
    wired.channel._server.close()  # type: ignore[union-attr]
    wired.take(frames.DATA, b"x") if breaks == "writing" else wired.channel.read()
    assert wired.sent()[-1] == (b"R", b'{"error":"The connection broke off."}')
    assert wired.channel.is_closed
    wired.take(frames.DATA, b"x")
    assert wired.channel.read() == 0


def test_a_host_may_reset_it(wired: Wired) -> None:
    wired.take(frames.RESET)
    assert wired.channel.is_closed


def test_a_refusal_has_its_sentence() -> None:
    inbox = bytearray()
    channel = Channel(1, inbox.extend)
    channel.refuse("No.", refused=True)
    frame = frames.take(inbox)
    assert frame is not None and (frame.kind, frame.json()) == (b"O", {"error": "No.", "refused": True})
    assert channel.is_closed and channel.server is None


def play(peer: socket.socket, host: str, ends: bool = True) -> list[tuple[bytes, Any]]:
    """Open a channel to ``host``, ask and hang up; what the channel brought, then the call is over."""
    peer.sendall(frames.of_channel(frames.OPEN, 7, f'{{"host": "{host}", "port": 443}}'.encode()))
    peer.sendall(frames.of_channel(frames.DATA, 7, b"question") + frames.of_channel(frames.END, 7))
    inbox, brought = bytearray(), list[tuple[bytes, Any]]()
    while not brought or (brought[-1][0] not in (b"E", b"R") and "error" not in str(brought[0])):
        inbox += peer.recv(65_536)
        while (frame := frames.take(inbox)) is not None:
            if frame.kind in (b"O", b"D", b"E", b"R"):
                brought.append((frame.kind, frame.payload if frame.kind == b"D" else frame.json()))
    peer.sendall(VALUE)
    return brought


def test_a_connection_is_carried_to_a_host_that_may_be_reached(
    carried: Carried, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, far = socket.socketpair()
    monkeypatch.setattr(channels, "connected", lambda allow, host, port, deadline: server)
    brought: list[Any] = []
    thread = threading.Thread(target=lambda: brought.extend(play(carried.peer, "a.acme.example")))
    thread.start()

    def answer() -> None:
        question = far.recv(99)
        far.sendall(question[::-1])
        far.close()

    answering = threading.Thread(target=answer)
    answering.start()
    assert carried.carry()
    thread.join()
    answering.join()
    assert brought == [(b"O", {}), (b"D", b"noitseuq"), (b"E", None)]
    assert carried.carrier.refused == {}


@pytest.mark.parametrize("why", ["no rule", "no such name", "too many"])
def test_a_connection_that_there_is_none_of_has_a_sentence(
    carried: Carried, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(channels, "connected", lambda *_: Failure("dns", "There is none."))
    monkeypatch.setattr(module, "OPEN_IN_ALL", 0 if why == "too many" else 500)
    brought: list[Any] = []
    host = "Evil.example" if why == "no rule" else "a.acme.example"
    thread = threading.Thread(target=lambda: brought.extend(play(carried.peer, host)))
    thread.start()
    assert carried.carry()
    thread.join()
    answer = {
        "no rule": {"error": channels.refusal((), "Evil.example", 443).sentence, "refused": True},  # type: ignore[union-attr]
        "no such name": {"error": "There is none.", "code": "ENOTFOUND"},
        "too many": {"error": "A call may not have that many connections. Use fewer."},
    }[why]
    assert brought[0] == (b"O", answer)
    assert list(carried.carrier.refused) == (["evil.example"] if why == "no rule" else [])


def test_what_servers_send_is_bounded(carried: Carried, monkeypatch: pytest.MonkeyPatch) -> None:
    server, far = socket.socketpair()
    far.sendall(b"x" * 100)
    monkeypatch.setattr(channels, "connected", lambda *_: server)
    monkeypatch.setattr(module, "CARRIED_BYTES", 99)
    carried.peer.sendall(frames.of_channel(frames.OPEN, 7, b'{"host": "a.acme.example", "port": 443}'))
    with pytest.raises(TooMuch):
        carried.carry()
    far.close()


def test_more_connections_than_may_be_open_wait_for_their_turn(
    carried: Carried, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counter[str]()
    release = Channel.release

    def connected(*_: Any) -> socket.socket:
        counts["open"] += 1
        counts["most"] = max(counts["most"], counts["open"])
        server, far = socket.socketpair()
        far.close()
        return server

    def released(channel: Channel) -> None:
        counts["open"] -= 1
        release(channel)

    monkeypatch.setattr(channels, "connected", connected)
    monkeypatch.setattr(Channel, "release", released)
    monkeypatch.setattr(module, "OPEN_AT_ONCE", 2)
    for number in range(1, 7):
        carried.peer.sendall(frames.of_channel(frames.OPEN, number, b'{"host": "a.acme.example", "port": 443}'))
        carried.peer.sendall(frames.of_channel(frames.END, number))

    def play() -> None:
        inbox, ended = bytearray(), set[int]()
        while len(ended) < 6:
            inbox.extend(carried.peer.recv(65_536))
            while (frame := frames.take(inbox)) is not None:
                if frame.kind == frames.END:
                    ended.add(frame.channel)
        carried.peer.sendall(VALUE)

    thread = threading.Thread(target=play)
    thread.start()
    assert carried.carry()
    thread.join()
    assert counts["most"] == 2


def test_what_is_waited_for_changes() -> None:
    near, far = socket.socketpair()
    with selectors.DefaultSelector() as selector, near, far:
        watch(selector, near, 0, "a")
        assert not selector.get_map()
        for events in (READ, READ, READ | WRITE):
            watch(selector, near, events, "a")
            key = selector.get_key(near)
            assert (key.events, key.data) == (events, "a")
        watch(selector, near, 0, "a")
        assert not selector.get_map()
