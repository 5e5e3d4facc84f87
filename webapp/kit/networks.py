"""Network addresses: which are this machine's own, and which count as one for limits."""

import ipaddress

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names by which a machine calls itself; in an URL, the last stands in brackets."""
UNNAMED_PROXY = "patchbay.unnamed_proxy"  # the WSGI environ key of a forwarding proxy that no setting names


def is_loopback(host: str) -> bool:
    """Whether ``host`` (a name, or an address without brackets) is a loopback address."""
    if host in LOOPBACK_NAMES or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def network_of(address: str) -> str:
    """The IPv4 address, or the /64 network of an IPv6 address, which one household or host usually has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
