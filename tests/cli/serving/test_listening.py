"""Listening on a name, and what is said of a port that cannot be had."""

import socket

import pytest

from webapp.cli.serving import listening


def test_a_taken_port_says_so() -> None:
    (listener,) = listening.listen("127.0.0.1", 0)
    with listener, pytest.raises(OSError) as caught:
        listening.listen("127.0.0.1", listener.getsockname()[1])
    assert listening.reason(caught.value) == "address already in use"


def test_a_name_with_two_addresses_is_listened_to_on_both() -> None:
    addresses = {entry[4][0] for entry in socket.getaddrinfo("localhost", 0, type=socket.SOCK_STREAM)}
    sockets = listening.listen("localhost", 0)
    assert {each.getsockname()[0] for each in sockets} == addresses
    for each in sockets:
        each.close()
