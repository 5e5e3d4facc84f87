"""Which IP addresses exist for us: public unicast for everyone, private ones only for named hosts, some never.

Pure tables and two questions over them; no names, no sockets. The ranges are those of the IANA special-purpose
registries (RFC 6890 and its successors), written out so that a newer or older Python gives the same verdict.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ip_network(text) for text in texts)


# Everything here answers some of the host's own questions. Named or not, nobody reaches it.
METADATA = _networks(
    "169.254.0.0/16",  # link-local: instance metadata of most clouds
    "168.63.129.16/32",  # Azure's platform address, public by number only
    "100.100.100.200/32",  # Alibaba Cloud's metadata, inside the shared space
    "fd00:ec2::/32",  # AWS metadata over IPv6
    "fd20:ce::254/128",  # Google Cloud metadata over IPv6
)
# What an operator may open by name.
NAMEABLE = _networks(
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
    "192.88.99.0/24",
    "192.168.0.0/16",
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
    "3fff::/20",  # documentation (RFC 9637)
)


def is_public(address: Address) -> bool:
    """True for global unicast that is no metadata service and wraps no other address."""
    if _within(address, METADATA):
        return False
    if isinstance(address, IPv4Address):
        return not _within(address, SPECIAL_V4)
    return address in GLOBAL_V6 and not _within(address, SPECIAL_V6)


def is_nameable(address: Address) -> bool:
    """True for loopback, private and shared addresses, which the operator may open by naming a host."""
    return _within(address, NAMEABLE) and not _within(address, METADATA)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)
