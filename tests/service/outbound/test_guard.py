"""The SSRF table: whatever is not public stays unreached, however it is written, named or renamed."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address

import pytest

from tests.fakes.ssrf import VECTORS, answers
from webapp.kit.clock import Deadline
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import METADATA, Address, Guard, is_allowable, is_public, parse_allow_entry, resolve


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


@pytest.mark.parametrize("text", ["1.1.1.1", "8.8.8.8", "2606:4700::1111"])
def test_global_unicast_is_public(text: str) -> None:
    assert is_public(ip_address(text)) and not is_allowable(ip_address(text))


@pytest.mark.parametrize("text", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.31.0.1", "100.64.0.1", "::1", "fd12::1"])
def test_private_addresses_may_be_named_only(text: str) -> None:
    assert is_allowable(ip_address(text)) and not is_public(ip_address(text))


@pytest.mark.parametrize("network", METADATA, ids=str)
def test_metadata_services_are_neither(network: object) -> None:
    address = ip_address(str(network).partition("/")[0])
    assert not is_public(address) and not is_allowable(address)


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "2001:db8::1",
        "2002:7f00:1::",
        "::",
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.6",
        "2620:4f:8000::42",
    ],
)
def test_special_addresses_are_neither(text: str) -> None:
    assert not is_public(ip_address(text)) and not is_allowable(ip_address(text))


@pytest.fixture(scope="module")
def listeners() -> Iterator[list[socket.socket]]:
    four = socket.create_server(("127.0.0.1", 0))
    opened = [four]
    with suppress(OSError):  # a machine without IPv6: the audit of connects still speaks for it
        opened.append(socket.create_server(("::1", four.getsockname()[1]), family=socket.AF_INET6))
    for listener in opened:
        listener.setblocking(False)
    yield opened
    for listener in opened:
        listener.close()


@pytest.fixture(scope="module")
def client() -> OutboundClient:
    return OutboundClient(Guard(resolver=answers), user_agent="t")


@pytest.mark.parametrize("vector", VECTORS)
def test_ssrf_vector_connects_zero_times(
    vector: str, client: OutboundClient, listeners: list[socket.socket], connects: list[object]
) -> None:
    outcome = client.request("GET", vector.replace("{port}", str(listeners[0].getsockname()[1])), deadline_s=1)
    assert isinstance(outcome, Failure)
    assert outcome.kind in ("refused_by_guard", "dns")
    assert outcome.sentence.endswith(".")
    assert connects == []
    for listener in listeners:
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_the_table_is_long_enough() -> None:
    assert len(set(VECTORS)) >= 130


def test_rebinding_is_looked_up_once_and_pinned(peer, connects) -> None:  # type: ignore[no-untyped-def]
    target = peer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    calls: list[str] = []

    def rebinding(host: str, _: float) -> list[Address]:
        calls.append(host)
        return [ip_address("127.0.0.1" if len(calls) == 1 else "127.0.0.9")]

    client = OutboundClient(Guard([f"rebind.test:{target.port}"], resolver=rebinding), user_agent="t")
    outcome = client.request("GET", f"http://rebind.test:{target.port}/")
    assert getattr(outcome, "body", None) == b"ok"
    assert calls == ["rebind.test"]
    assert connects == [("127.0.0.1", target.port)]
    assert b"Host: rebind.test:" in target.requests[0]


def test_rebinding_to_loopback_at_the_second_request_is_refused(connects: list[object]) -> None:
    turns = iter(["93.184.215.14", "127.0.0.1"])
    guard = Guard(resolver=lambda host, _: [ip_address(next(turns))])
    url = guard.check("https://rebind.test/")
    assert not isinstance(url, Failure)
    assert not isinstance(guard.pin(url, Deadline(1)), Failure)
    second = guard.pin(url, Deadline(1))
    assert isinstance(second, Failure)
    assert second.kind == "refused_by_guard"
    assert connects == []


@pytest.mark.parametrize(
    ("entry", "url", "allowed"),
    [
        ("127.0.0.1:9000", "http://127.0.0.1:9000/", True),
        ("127.0.0.1:9000", "http://127.0.0.1:9001/", False),
        ("127.0.0.1:9000", "http://127.0.0.2:9000/", False),
        ("127.0.0.1:9000", "http://localhost:9000/", False),
        ("127.0.0.1:9000", "http://loopback.test:9000/", False),
        ("127.0.0.1", "http://127.0.0.1:6379/", True),
        ("127.0.0.1", "http://127.0.0.1/", True),
        ("localhost:9000", "http://LocalHost.:9000/", True),
        ("localhost:25", "http://localhost:25/", True),
        ("[::1]:9000", "http://[0::1]:9000/", True),
        ("[::1]", "http://[::1]:7000/", True),
        ("private.test", "http://private.test:8080/", True),
        ("metadata.test", "http://metadata.test/", False),
        ("169.254.169.254:80", "http://169.254.169.254/", False),
        ("[fd00:ec2::254]", "http://[fd00:ec2::254]/", False),
        ("zero.test", "http://zero.test/", False),
        ("mapped.test", "http://mapped.test/", False),
        ("mixed.test", "http://mixed.test/", True),
    ],
)
def test_allow_entries_open_exactly_what_they_name(entry: str, url: str, allowed: bool) -> None:
    guard = Guard([entry], resolver=answers)
    checked = guard.check(url)
    outcome = checked if isinstance(checked, Failure) else guard.pin(checked, Deadline(1))
    assert isinstance(outcome, Failure) is not allowed


def test_allowing_widens_a_copy_only() -> None:
    guard = Guard(["localhost:1"], resolver=answers)
    wider = guard.allowing("127.0.0.1:9000")
    assert not isinstance(wider.check("http://127.0.0.1:9000/"), Failure)
    assert not isinstance(wider.check("http://localhost:1/"), Failure)
    assert isinstance(guard.check("http://127.0.0.1:9000/"), Failure)


@pytest.mark.parametrize("entry", ["", "a:b", "a:0", "a:70000", "http://a", "a/b", "::1", "[::1", "a:", "1.2.3", "*.x"])
def test_a_bad_allow_entry_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match="host\\[:port\\]"):
        parse_allow_entry(entry)


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.32.0.1", "2606:4700::1", "2a00:1450::1"]
)
def test_public_addresses_are_public(text: str) -> None:
    assert is_public(ip_address(text))
    assert not is_allowable(ip_address(text))


def test_public_answers_are_pinned_in_order() -> None:
    guard = Guard(resolver=lambda host, _: [ip_address("2606:4700::1"), ip_address("93.184.215.14")])
    url = guard.check("https://Bücher.Test/a b?q=ü#f".replace(" ", "%20"))
    assert not isinstance(url, Failure)
    assert str(url) == "https://xn--bcher-kva.test/a%20b?q=%C3%BC"
    target = guard.pin(url, Deadline(1))
    assert not isinstance(target, Failure)
    assert [str(address) for address in target.addresses] == ["2606:4700::1", "93.184.215.14"]


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("93.184.215.14", 5432, True),
        ("93.184.215.14", 6543, True),
        ("93.184.215.14", 3306, True),
        ("93.184.215.14", 22, False),
        ("93.184.215.14", 6379, False),
        ("127.0.0.1", 5432, False),
        ("::1", 5432, False),
        ("[::1]", 5432, False),
        ("/var/run/postgresql", 5432, False),
        ("93.184.215.14,127.0.0.1", 5432, False),
        ("loopback.test", 5432, False),
        ("2606:4700::1", 5432, True),
        ("a b", 5432, False),
        ("", 5432, False),
    ],
)
def test_database_hosts(host: str, port: int, allowed: bool) -> None:
    outcome = Guard(resolver=answers).pin_host(host, port, Deadline(1))
    assert isinstance(outcome, Failure) is not allowed
