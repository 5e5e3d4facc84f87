"""What counts as one address."""

import pytest

from webapp.kit.networks import network_of


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
