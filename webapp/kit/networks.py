"""Groups network addresses for limits."""

import ipaddress

UNNAMED_PROXY = "patchbay.unnamed_proxy"  # the WSGI environ key of a forwarding proxy that no setting names


def network_of(address: str) -> str:
    """The IPv4 address, or the /64 network of an IPv6 address, which one household or host usually has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
