"""The guard decides which addresses may be reached, and pins them.

A URL is parsed once (urls), its name is resolved once, every address must be permitted, and the connection goes to
those addresses, so a name that resolves differently later has no effect. Only global unicast is permitted; loopback and
private addresses only for a host that an allow entry names, and metadata services never. The guard opens no connection
itself.

The ranges are those of the IANA special-purpose registries (RFC 6890 and its successors), including ranges that are
globally reachable but have no ordinary hosts. They are written out so that all versions of Python give the same
verdict. The system's resolver has no time limit, so each lookup runs in a thread of its own; one that hangs is
abandoned, and while 64 hang, lookups fail at once.
"""

import socket
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from queue import Empty, SimpleQueue

from webapp.kit.clock import Deadline
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.urls import Url, parse_host, parse_port, parse_url, split_authority

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


# Metadata services. They are never reached, even if an allow entry names them.
METADATA = _networks(
    "169.254.0.0/16",  # link-local: instance metadata of most clouds
    "168.63.129.16/32",  # Azure's platform address, public by number only
    "100.100.100.200/32",  # Alibaba Cloud's metadata, inside the shared space
    "fd00:ec2::/32",  # AWS metadata over IPv6
    "fd20:ce::254/128",  # Google Cloud metadata over IPv6
)
# Ranges that are reached only if an allow entry names the host.
ALLOWABLE = _networks(
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",  # shared space (RFC 6598), which private overlay networks use
    "::1/128",
    "fc00::/7",
)
SPECIAL_V4 = _networks(
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",  # AS112 (RFC 7535): answers for private names, at whatever host is nearest
    "192.52.193.0/24",  # relays of AMT (RFC 7450), the nearest one again
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",  # AS112 (RFC 7534)
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
GLOBAL_V6 = IPv6Network("2000::/3")
SPECIAL_V6 = _networks(
    "2001::/23",  # Teredo, ORCHID, benchmarking and other protocol assignments
    "2001:db8::/32",
    "2002::/16",  # 6to4: wraps any IPv4 address
    "2620:4f:8000::/48",  # AS112 (RFC 7534)
    "3fff::/20",  # documentation (RFC 9637)
)


def is_public(address: Address) -> bool:
    """True for global unicast that is no metadata service and wraps no other address."""
    if _within(address, METADATA):
        return False
    if isinstance(address, IPv4Address):
        return not _within(address, SPECIAL_V4)
    return address in GLOBAL_V6 and not _within(address, SPECIAL_V6)


def is_allowable(address: Address) -> bool:
    """Whether ``address`` is loopback, private or shared, and so is reached only if an allow entry names its host."""
    return _within(address, ALLOWABLE) and not _within(address, METADATA)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)


Resolver = Callable[[str, float], list[Address]]
"""host, seconds → every address of it; raises OSError (TimeoutError when the time is over)."""

_slots = threading.BoundedSemaphore(64)


def resolve(host: str, timeout_s: float) -> list[Address]:
    """All addresses of `host` in the system's order of preference (RFC 6724), within `timeout_s` seconds.

    Raises OSError if the name has no address, TimeoutError if the lookup took too long.
    """
    if not _slots.acquire(blocking=False):
        raise TimeoutError("too many name look-ups are hanging")
    answers: SimpleQueue[list[Address] | OSError] = SimpleQueue()
    threading.Thread(target=_look_up, args=(host, answers), name="name-look-up", daemon=True).start()
    try:
        answer = answers.get(timeout=max(timeout_s, 0.001))
    except Empty:
        raise TimeoutError("the name look-up took too long") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _look_up(host: str, answers: "SimpleQueue[list[Address] | OSError]") -> None:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        answers.put(list(dict.fromkeys(ip_address(entry[4][0]) for entry in entries)))
    except OSError as error:
        answers.put(error)
    except (UnicodeError, ValueError) as error:
        answers.put(OSError(str(error)))
    finally:
        _slots.release()


# Ports from 1024 up where something other than HTTP listens: the Fetch standard's "bad ports", and databases,
# caches and control planes that would take an HTTP request for commands.
NOT_HTTP = frozenset(
    {1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432}
    | {5672, 5900, 6000, 6379, 6380, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 10080, 10250}
    | {11211, 27017, 27018}
)
DATABASE_PORTS = frozenset({3306, 5432, 5433, 5434, 6432, 6543})
MAIL_PORTS = frozenset({25, 465, 587, 2525})


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """A host that may be reached although its address is private; any port when `port` is None."""

    host: str
    port: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """The checked addresses of one name, in order of preference."""

    url: Url
    addresses: tuple[Address, ...]


class Guard:
    """Says yes or no to URLs and hosts, and pins their addresses. Immutable, so threads may share it."""

    def __init__(self, allow: Collection[str] = (), *, resolver: Resolver = resolve) -> None:
        """`allow` holds entries `host[:port]` (IPv6 in brackets); raises ValueError for one that is not."""
        self._allow = frozenset(map(parse_allow_entry, allow))
        self._resolver = resolver

    def allowing(self, *entries: str) -> "Guard":
        """A guard that also permits `entries`, for a target that only one caller may reach."""
        copy = Guard(resolver=self._resolver)
        copy._allow = self._allow.union(map(parse_allow_entry, entries))
        return copy

    def check(self, text: str) -> Url | Failure:
        """Check a URL without resolving its name; for forms that store one."""
        url = parse_url(text)
        if isinstance(url, Failure):
            return url
        if not (self._names(url.host, url.port) or url.port in (80, 443) or _is_free_port(url.port)):
            return _no(f"Port {url.port} is not used for web requests. Use 80, 443 or another web port.")
        if literal := _literal(url.host):
            return self._permitted(url.host, url.port, [literal]) or url
        return url

    def pin(self, url: Url, deadline: Deadline) -> Target | Failure:
        """Look the name of a checked URL up, once, and pin the answers when all of them are permitted."""
        literal = _literal(url.host)
        try:
            addresses = [literal] if literal else self._resolver(url.host, deadline.remaining())
        except TimeoutError:
            return Failure("dns", f"Looking up {url.host} took too long. Try again later.")
        except OSError:
            return Failure("dns", f"There is no server named {url.host}. Check how the address is written.")
        return self._permitted(url.host, url.port, addresses) or Target(url, tuple(addresses))

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

    def _permitted(self, host: str, port: int, addresses: list[Address]) -> Failure | None:
        if not addresses:
            return Failure("dns", f"There is no server named {host}. Check how the address is written.")
        named = self._names(host, port)
        if all(is_public(address) or (named and is_allowable(address)) for address in addresses):
            return None
        return _no(f"{host} is not on the public internet. Enter a public URL.")

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


def _is_free_port(port: int) -> bool:
    return 1024 <= port <= 65535 and port not in NOT_HTTP


def _no(sentence: str) -> Failure:
    return Failure("refused_by_guard", sentence)
