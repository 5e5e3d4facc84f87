"""The guard decides which addresses may be reached, and pins them.

A URL is read once (urls), its name is looked up once, every answer must be permitted, and the connection goes to
those very addresses: a name that changes its mind between check and connection gains nothing. Only global unicast
is permitted; loopback and private addresses only for a host that an allow entry names, and metadata services never.
The guard opens no connection itself.
"""

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address

from webapp.service.outbound.addresses import Address, is_nameable, is_public
from webapp.service.outbound.deadline import Deadline
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.resolver import Resolver, resolve
from webapp.service.outbound.urls import Url, parse_host, parse_port, parse_url, split_authority

# Ports from 1024 up where something other than HTTP listens: the Fetch standard's "bad ports", and databases,
# caches and control planes that would take an HTTP request for commands.
NOT_HTTP = frozenset(
    {1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432}
    | {5672, 5900, 6000, 6379, 6380, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 10080, 10250}
    | {11211, 27017, 27018}
)
DATABASE_PORTS = frozenset({5432, 5433, 5434, 6432, 6543})
MAIL_PORTS = frozenset({25, 465, 587, 2525})


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """A host that may be reached although its address is private; any port when `port` is None."""

    host: str
    port: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """Where a connection goes: the checked addresses, in order of preference, all of one name."""

    url: Url
    addresses: tuple[Address, ...]


class Guard:
    """Says yes or no to URLs and hosts, and pins their addresses. Immutable, so threads may share it."""

    def __init__(self, allow: Collection[str] = (), *, resolver: Resolver = resolve) -> None:
        """`allow` holds entries `host[:port]` (IPv6 in brackets); raises ValueError for one that is not."""
        self._allow = frozenset(parse_allow_entry(entry) for entry in allow)
        self._resolver = resolver

    def allowing(self, *entries: str) -> "Guard":
        """A guard that permits `entries` besides: for a target only one caller may reach."""
        wider = Guard(entries, resolver=self._resolver)
        wider._allow |= self._allow
        return wider

    def check(self, text: str) -> Url | Failure:
        """Everything that can be said about a URL without looking its name up; for forms that store one."""
        url = parse_url(text)
        if isinstance(url, Failure):
            return url
        if not (self._names(url.host, url.port) or _is_http_port(url.port)):
            return _no(f"Port {url.port} is not used for web requests. Use 80, 443 or another web port.")
        if literal := _literal(url.host):
            return self._permitted(url.host, url.port, [literal]) or url
        return url

    def pin(self, url: Url, deadline: Deadline) -> Target | Failure:
        """Look the name of a checked URL up, once, and pin the answers when all of them are permitted."""
        literal = _literal(url.host)
        try:
            found = [literal] if literal else self._resolver(url.host, deadline.remaining())
        except TimeoutError:
            return Failure("dns", f"Looking up {url.host} took too long. Try again later.")
        except OSError:
            return Failure("dns", f"There is no server named {url.host}. Check how the address is written.")
        return self._permitted(url.host, url.port, found) or Target(url, tuple(found))

    def pin_host(
        self, host: str, port: int, deadline: Deadline, usual: frozenset[int] = DATABASE_PORTS
    ) -> tuple[Address, ...] | Failure:
        """Pin the addresses of a database or mail server. Ports: its `usual` ones and any free one above 1023."""
        name = parse_host(f"[{host}]" if ":" in host and not host.startswith("[") else host)
        if isinstance(name, Failure):
            return name
        if not (self._names(name, port) or port in usual or _is_free_port(port)):
            return _no(f"Port {port} belongs to another kind of server. Use the one that this server has.")
        target = self.pin(Url("https", name, port, "/"), deadline)
        return target if isinstance(target, Failure) else target.addresses

    def _permitted(self, host: str, port: int, found: list[Address]) -> Failure | None:
        if not found:
            return Failure("dns", f"There is no server named {host}. Check how the address is written.")
        named = self._names(host, port)
        if all(is_public(address) or (named and is_nameable(address)) for address in found):
            return None
        return _no(f"{host} is not on the public internet, so it may not be reached. Use a public address.")

    def _names(self, host: str, port: int) -> bool:
        return AllowEntry(host, port) in self._allow or AllowEntry(host, None) in self._allow


def parse_allow_entry(text: str) -> AllowEntry:
    """Read one `host[:port]` of PATCHBAY_ALLOW_HOSTS; raises ValueError with a sentence that names it."""
    host_text, port_text = split_authority(text.strip())
    host = parse_host(host_text)
    port = parse_port(port_text) if port_text is not None else None
    if isinstance(host, Failure) or (port_text is not None and port is None):
        raise ValueError(f"{text!r} is not a host[:port]. Write it like localhost:9000 or [::1]:9000.")
    return AllowEntry(host, port)


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _is_http_port(port: int) -> bool:
    return port in (80, 443) or _is_free_port(port)


def _is_free_port(port: int) -> bool:
    return 1024 <= port <= 65535 and port not in NOT_HTTP


def _no(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)
