"""The SSRF table: addresses that are not public, however they are written, named or renamed; and a hostile DNS."""

import socket
import sys
from functools import cache
from ipaddress import ip_address

from webapp.service.outbound.guard import Address

connects: list[object] = []
"""Every address that any socket of this process was told to connect to since :func:`listen`."""


def listen() -> None:
    """Begin :data:`connects` anew."""
    _add_hook()
    connects.clear()


@cache
def _add_hook() -> None:
    """Only in a process with such a test, since the hook is asked at each event there is, and never goes away."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect":
        connects.append(arguments[1])


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
    """A resolver that answers as :data:`DNS` says."""
    if host not in DNS:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")
    return [ip_address(text) for text in DNS[host]]
