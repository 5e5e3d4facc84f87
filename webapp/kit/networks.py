"""Network addresses as limits count them."""

import ipaddress

UNNAMED_PROXY = "patchbay.unnamed_proxy"  # in the environment of a request that came through one


def network_of(address: str) -> str:
    """One text per IPv4 address and per IPv6 /64, which is what one household or host has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 6 and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
