"""The SSRF table: whatever is not public stays unreached, however it is written, named or renamed."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address

import pytest

from webapp.service.outbound.addresses import Address, is_nameable, is_public
from webapp.service.outbound.client import OutboundClient
from webapp.service.outbound.deadline import Deadline
from webapp.service.outbound.guard import Guard, parse_allow_entry
from webapp.service.outbound.outcomes import Failure

# Names that a hostile DNS would give these answers to.
DNS: dict[str, list[str]] = {
    "loopback.test": ["127.0.0.1"],
    "loopback6.test": ["::1"],
    "private.test": ["10.1.2.3"],
    "metadata.test": ["169.254.169.254"],
    "mixed.test": ["93.184.215.14", "127.0.0.1"],
    "mixed6.test": ["2606:4700::1", "::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "nat64.test": ["64:ff9b::7f00:1"],
    "zero.test": ["0.0.0.0"],
    "empty.test": [],
    "localhost": ["127.0.0.1", "::1"],
    "foo.localhost": ["127.0.0.1"],
    "localhost.localdomain": ["127.0.0.1"],
    "127.0.0.1.nip.test": ["127.0.0.1"],
    "xn--n3h.test": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "sixtofour.test": ["2002:7f00:1::"],
}

VECTORS = [
    "http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}",
    "http://127.0.0.2:{port}/",
    "http://127.255.255.254:{port}/",
    "http://127.1:{port}/",
    "http://127.0.1:{port}/",
    "http://0:{port}/",
    "http://0.0.0.0:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0x7f.1:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://017700000001:{port}/",
    "http://0177.1:{port}/",
    "http://127.0.0.01:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://127.0.0.1..:{port}/",
    "http://%31%32%37.0.0.1:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://127。0。0。1:{port}/",
    "http://１２７.０.０.１:{port}/",
    "http://127．0．0．1:{port}/",
    "http://[::1]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::127.0.0.1]:{port}/",
    "http://[64:ff9b:1::1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[2001:0:1::1]:{port}/",
    "http://[2001:10::1]:{port}/",
    "http://[2001:20::1]:{port}/",
    "http://[2001:db8::1]:{port}/",
    "http://[3fff::1]:{port}/",
    "http://[fe80::1]:{port}/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[fe80::1%lo]:{port}/",
    "http://[fec0::1]:{port}/",
    "http://[fc00::1]:{port}/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[ff02::1]:{port}/",
    "http://[100::1]:{port}/",
    "http://[::1%250]:{port}/",
    "http://[::1]x:{port}/",
    "http://[::1/",
    "http://::1:{port}/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/",
    "http://168.63.129.16/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost:{port}/",
    "http://LOCALHOST:{port}/",
    "http://localhost.:{port}/",
    "http://foo.localhost:{port}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/",
    "http://localhost.localdomain:{port}/",
    "http://loopback.test:{port}/",
    "https://loopback.test:{port}/",
    "http://loopback6.test:{port}/",
    "http://private.test/",
    "http://metadata.test/",
    "http://metadata.google.internal/",
    "http://mixed.test:{port}/",
    "http://mixed6.test:{port}/",
    "http://mapped.test:{port}/",
    "http://nat64.test:{port}/",
    "http://zero.test:{port}/",
    "http://empty.test:{port}/",
    "http://sixtofour.test:{port}/",
    "http://127.0.0.1.nip.test:{port}/",
    "http://☃.test:{port}/",
    "http://unknown.test:{port}/",
    "http://user@127.0.0.1:{port}/",
    "http://user:pw@public.test:{port}/",
    "http://public.test@127.0.0.1:{port}/",
    "http://public.test:80@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}@public.test/",
    "http://public.test#@127.0.0.1:{port}/",
    "http://public.test\\@127.0.0.1:{port}/",
    "http:\\\\127.0.0.1:{port}/",
    "http://127.0.0.1\\@public.test:{port}/",
    "http://127.0.0.1:{port}\\.public.test/",
    "http:127.0.0.1:{port}/",
    "http:/127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    "127.0.0.1:{port}",
    "/etc/passwd",
    "file:///etc/passwd",
    "file://127.0.0.1:{port}/",
    "ftp://127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/_GET",
    "dict://127.0.0.1:{port}/",
    "ldap://127.0.0.1:{port}/",
    "unix:///var/run/docker.sock",
    "data:text/plain,x",
    "javascript:alert(1)",
    "jar:http://127.0.0.1:{port}!/",
    "http+unix://127.0.0.1:{port}/",
    "ws://127.0.0.1:{port}/",
    "http://",
    "http://:{port}/",
    "http://public.test:22/",
    "http://public.test:25/",
    "http://public.test:6379/",
    "http://public.test:5432/",
    "http://public.test:11211/",
    "http://public.test:0/",
    "http://public.test:65536/",
    "http://public.test:-1/",
    "http://public.test:٨٠/",
    "http://public.test:80:80/",
    "http://public.test:8o/",
    "http://a..b.test/",
    "http://-.test/",
    "http://*.test/",
    "http://a,b.test/",
    "http://public.test;127.0.0.1/",
    "http://$(id).test/",
    "http://[v1.x]/",
    "http://999.1.1.1/",
    "http://1.2.3/",
    "http://1.2.3.4.5/",
]
VECTORS += [
    " http://127.0.0.1:{port}/",
    "http://127.0.0.1:{port}/\t",
    "http://127.0.0.1:{port}/\r\nHost: public.test",
    "http://public.test\r\n.127.0.0.1:{port}/",
    "http://127.0.\t0.1:{port}/",
    "http://127.0.0.1 :{port}/",
    "http://127.0.0.1\x00.public.test:{port}/",
    "\x01http://127.0.0.1:{port}/",
    "http://127.0.0.1\u200b:{port}/",
    "http://127.0.0.1\u00ad:{port}/",
    "http://127.0.0.1:{port}/\ud800",
    "ht\ntp://127.0.0.1:{port}/",
    "http://" + "a" * 64 + ".test/",
    "http://" + "a." * 130 + "test/",
    "http://public.test/" + "a" * 9000,
    "",
]


def answers(host: str, _: float) -> list[Address]:
    if host not in DNS:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return [ip_address(text) for text in DNS[host]]


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
    assert not is_nameable(ip_address(text))


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
