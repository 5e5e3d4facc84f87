"""Which addresses are this machine's own, and which count as one."""

import pytest

from webapp.kit.networks import is_loopback, network_of


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_an_address_counts_as_itself_and_one_of_version_6_with_its_neighbours(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "demo.localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "localhost.example.com", "10.0.0.1", "::2", "0.0.0.0"])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)
