"""Which addresses are public, which may be opened by name, and which nobody reaches."""

from ipaddress import ip_address

import pytest

from webapp.service.outbound.addresses import METADATA, is_nameable, is_public


@pytest.mark.parametrize("text", ["1.1.1.1", "8.8.8.8", "2606:4700::1111"])
def test_global_unicast_is_public(text: str) -> None:
    assert is_public(ip_address(text)) and not is_nameable(ip_address(text))


@pytest.mark.parametrize("text", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.31.0.1", "100.64.0.1", "::1", "fd12::1"])
def test_private_addresses_may_be_named_alone(text: str) -> None:
    assert is_nameable(ip_address(text)) and not is_public(ip_address(text))


@pytest.mark.parametrize("network", METADATA, ids=str)
def test_metadata_services_are_neither(network: object) -> None:
    address = ip_address(str(network).partition("/")[0])
    assert not is_public(address) and not is_nameable(address)


@pytest.mark.parametrize(
    "text", ["0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1", "2001:db8::1", "2002:7f00:1::", "::"]
)
def test_special_addresses_are_neither(text: str) -> None:
    assert not is_public(ip_address(text)) and not is_nameable(ip_address(text))
