"""A call is carried to its last message; what the host says besides is bounded.

However a call goes wrong, the Reply says so in a sentence, and whoever comes next meets nothing of it.
"""

import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.fakes import ssrf
from tests.service.components.pieces.conftest import Ask, asking
from tests.service.components.pieces.playing import Carried
from tests.service.components.pieces.test_channels import hosts_of
from webapp.kit.cancellation import Cancellation, cancelling
from webapp.service.components.calls import PieceBounds, Reply
from webapp.service.components.pieces import channels, conversation, frames, node
from webapp.service.components.pieces import conversation as module
from webapp.service.components.pieces.channels import Reach, TooMuch
from webapp.service.components.runner import Runner
from webapp.service.components.wire import ProtocolError
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard

VALUE = frames.message({"value": 1})
HANG = "await new Promise((resolve) => setTimeout(resolve, 60000))"
FLOOD = """
for (let i = 0; ; i++) {
  tell({ log: "x".repeat(10000), ts: 1 });
  if (i % 10 == 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
"""
BUFFERS = "const all = []; for (;;) { all.push(Buffer.alloc(2 ** 20, 1)) }"
HEAP = "const all = []; for (;;) all.push({ all: [all.length] })"
DISK = "for (let i = 0; ; i++) { require('fs').writeFileSync('f' + i, Buffer.alloc(2 ** 20)); await 0 }"


def test_messages_come_until_the_last_one(carried: Carried) -> None:
    carried.peer.sendall(frames.message({"log": "a"}) + VALUE + frames.of_channel(frames.END, 9))
    assert carried.carry()
    assert carried.messages == [{"log": "a"}, {"value": 1}]
    assert carried.carrier.is_clean
    inbox = bytearray(carried.peer.recv(999))
    frame = frames.take(inbox)
    assert frame is not None and frame.json() == {"call": {}}


def test_what_is_half_said_makes_the_process_unfit(carried: Carried, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REST_S", 0.1)
    carried.peer.sendall(VALUE + b"\0\0")
    assert carried.carry()
    assert not carried.carrier.is_clean


def test_the_rest_of_it_is_waited_for(carried: Carried) -> None:
    late = frames.of_channel(frames.RESET, 9)
    carried.peer.sendall(VALUE + late[:3])
    threading.Timer(0.05, carried.peer.sendall, (late[3:],)).start()
    assert carried.carry()
    assert carried.carrier.is_clean


@pytest.mark.parametrize("who", ["host", "host that is written to", "runner"])
def test_it_notices_who_hangs_up(carried: Carried, who: str) -> None:
    if who == "runner":
        os.write(carried.line[1], b"x")
    elif who == "host":
        carried.peer.shutdown(socket.SHUT_WR)
    else:
        carried.peer.close()
    assert not carried.carry()


def test_the_deadline_holds() -> None:
    call = Carried(seconds=0.05)
    with pytest.raises(TimeoutError):
        call.carry()
    call.close()


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\0\0\0\0",
        frames.of_channel(frames.OPEN, 1, b"[]"),
        frames.of_channel(frames.OPEN, 1, b'{"host": "a", "port": 0}'),
        frames.of_channel(frames.OPEN, 1, b'{"host": "a.acme.example", "port": 443}') * 2,
        frames.of_channel(frames.OPEN, 1, b'{"host": "a.acme.example", "port": 443, "x": "%s"}' % (b"x" * 4096)),
    ],
    ids=["no frame", "no address", "no port", "the same channel", "a long address"],
)
def test_nonsense_ends_the_call(carried: Carried, nonsense: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "connected", lambda *_: Failure("dns", "None."))
    carried.peer.sendall(nonsense)
    with pytest.raises(ProtocolError):
        carried.carry()


def test_messages_are_bounded(carried: Carried) -> None:
    carried.peer.sendall(frames.message({"log": "x" * 600}) * 2)
    with pytest.raises(TooMuch):
        carried.carry()


def test_answers_that_nobody_reads_are_bounded(carried: Carried, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FLOODED", 1000)
    address = b'{"host": "elsewhere.example", "port": 443}'
    carried.peer.sendall(b"".join(frames.of_channel(frames.OPEN, number, address) for number in range(100)))
    with pytest.raises(TooMuch):
        carried.carry()


def test_what_it_says_is_the_reply(ask: Ask) -> None:
    reply = ask(
        "tell({ log: 'my s3cret', ts: 1 }); tell({ set: 'a', value: 1 }); tell({ export: 'b', value: 2 });"
        "tell({ refused: 'app', repeatable: true }); return { c: 3 }",
        mask="s3cret",
    )
    assert (reply.value, dict(reply.state), dict(reply.exports), reply.error) == ({"c": 3}, {"a": 1}, {"b": 2}, None)
    assert [line.msg for line in reply.observations] == ["my ••••••"]
    assert (reply.refused, reply.refused_hosts) == ((), ())


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("throw new Error('no such channel')", "exception", "no such channel"),
        (HANG, "timeout", "was still working after 1 s"),
        pytest.param("for (;;) {}", "timeout", "was still working after 1 s", marks=pytest.mark.faults),
        pytest.param(FLOOD, "output", "more than 6 MiB", marks=pytest.mark.faults),
        (BUFFERS, "memory", "more than 64 MiB"),
        (HEAP, "memory", "more than 64 MiB"),
        pytest.param(DISK, "output", "more than 128 MiB", marks=pytest.mark.faults),
        ("process.exit(3)", "crash", "exited with code 3"),
        ("process.kill(process.pid, 'SIGKILL')", "crash", "was ended by SIGKILL"),
        ("process.kill(process.pid, 'SIGSEGV')", "crash", "was ended by SIGSEGV"),
        ("process.abort()", "crash", "was ended by SIGABRT"),
        ("send('J', Buffer.from('{')); " + HANG, "crash", "sent an invalid message"),
        ("send('J', Buffer.from('1')); " + HANG, "crash", "sent an invalid message"),
        ("send('D', Buffer.from('1')); " + HANG, "crash", "sent an invalid message"),
        ("send('O', Buffer.from([0, 0, 0, 9, 1])); " + HANG, "crash", "sent an invalid message"),
    ],
)
def test_what_goes_wrong_is_reported_and_harms_nobody(ask: Ask, code: str, kind: str, words: str) -> None:
    reply = ask(code, deadline_s=1.0 if kind == "timeout" else 10.0)
    assert reply.error is not None
    assert (reply.error.kind, words in reply.error.message) == (kind, True), reply.error.message
    assert ask("return 1").value == 1


def test_a_process_that_continues_after_its_call_serves_no_other(ask: Ask) -> None:
    pid = "tell({ log: String(process.pid), ts: 1 }); "
    failure = "tell({ error: { kind: 'exception', name: 'E', message: '' }, spent: %s }); "
    first, second, third = (
        ask(pid + failure % spent + HANG).observations[0].msg for spent in ("false", "true", "true")
    )
    assert first == second != third


def test_a_process_that_ends_with_the_time_took_too_long(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "_NEWS_S", 0.0)
    reply = ask("process.exit(3)")
    assert reply.error is not None
    assert reply.error.kind == "timeout"


def test_a_call_that_nobody_wants_any_more_is_stopped(ask: Ask) -> None:
    work = Cancellation()
    pid = ask("return process.pid").value
    threading.Timer(0.2, work.request).start()
    began = time.monotonic()
    with cancelling(work):
        reply = ask(HANG)
    assert reply.error is not None and time.monotonic() - began < 2
    assert ask("return process.pid").value != pid


def test_a_package_that_cannot_begin_is_a_sentence(ask: Ask, package: Path) -> None:
    (package / "broken").touch()
    reply = ask("return 1", user="new")
    assert reply.error is not None and "exited with code 3" in reply.error.message


def test_without_node_a_sentence_says_what_to_do(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "find", lambda: None)
    reply = ask("return 1")
    assert reply.error is not None and reply.error.message == node.MISSING


def test_values_that_json_cannot_carry_and_those_that_are_too_large(ask: Ask) -> None:
    refused = [ask(code) for code in (object(), "x" * 17 * 2**20)]
    assert [reply.error and reply.error.message.split(".")[-2].strip() for reply in refused] == [
        "Check them",
        "Send less",
    ]


def test_no_hostile_address_is_reached_though_a_rule_names_it(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Guard.__init__, "__kwdefaults__", {"resolver": ssrf.answers})
    ssrf.listen()
    hosts = sorted({host for host, _ in hosts_of(ssrf.VECTORS)})
    tries = "for (const host of %s) answers.push(await exchange(host, 8080, 'GET / HTTP/1.0\\r\\n\\r\\n'))"
    reply = ask(f"const answers = []; {tries % json.dumps(hosts)}; return answers", reach=Reach(tuple(hosts)))
    assert reply.error is None and len(reply.value) == len(hosts) > 50
    assert all(answer.endswith(".") for answer in reply.value), "each has its sentence"
    assert [address for address in ssrf.connects if isinstance(address, tuple)] == [], "the runner's is no address"
    assert len(reply.refused_hosts) < len(hosts)


def test_a_host_that_no_rule_names_is_refused_and_reported(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port, netloc = server.getsockname()[1], f"127.0.0.1:{server.getsockname()[1]}"
        threading.Thread(target=_echo, args=(server,), daemon=True).start()
        call = f"return [await exchange('127.0.0.1', {port}, 'hello'), await exchange('Other.example', 443, '')]"
        reply = ask(call, reach=Reach((netloc,), (netloc,)))
    assert reply.value[0] == "hello" and reply.value[1].startswith("Other.example is not among the hosts")
    assert reply.refused_hosts == ("other.example",)
    assert "other.example was refused" in (reply.observations[0].msg or "")


def _echo(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        while block := connection.recv(99):
            connection.sendall(block)


def test_who_waits_longer_than_the_deadline_is_reported(
    package: Path, monkeypatch: pytest.MonkeyPatch, node_runner: Runner
) -> None:
    with Runner.start() as runner:
        ask = asking(runner, package, monkeypatch, PieceBounds(processes=1, memory_mb=64))
        assert ask("return 1", user="a").value == 1
        replies: list[Reply] = []
        first = threading.Thread(target=lambda: replies.append(ask(HANG, user="a", deadline_s=1.5)))
        first.start()
        time.sleep(0.3)
        late = ask("return 1", user="b", deadline_s=0.3)
        assert late.error is not None and late.error.message == conversation.BUSY
        assert runner._process is not None
        runner._process.kill()
        first.join()
        assert replies[0].error is not None and replies[0].error.message == conversation.LOST
    gone = ask("return 1", deadline_s=0.5)
    assert gone.error is not None and gone.error.message == conversation.NOT_RUNNING
