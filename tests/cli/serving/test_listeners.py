"""Listening on a name, and what is said of a port that cannot be had.

Whoever has more connections than another lets that one go first.
"""

import socket

import pytest

from webapp.cli.serving import listeners


def test_a_taken_port_says_so() -> None:
    (listener,) = listeners.listen("127.0.0.1", 0)
    with listener, pytest.raises(OSError) as caught:
        listeners.listen("127.0.0.1", listener.getsockname()[1])
    assert listeners.reason(caught.value) == "address already in use"


def test_a_name_with_two_addresses_is_listened_to_on_both() -> None:
    addresses = {entry[4][0] for entry in socket.getaddrinfo("localhost", 0, type=socket.SOCK_STREAM)}
    sockets = listeners.listen("localhost", 0)
    assert {each.getsockname()[0] for each in sockets} == addresses
    for each in sockets:
        each.close()


@pytest.mark.parametrize(("counts", "gives_way"), [((0, 0), False), ((1, 0), True), ((0, 1), False), ((2, 2), False)])
def test_who_gives_way(monkeypatch: pytest.MonkeyPatch, counts: tuple[int, int], gives_way: bool) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("webapp.cli.serving.listeners.time.sleep", pauses.append)
    mine, other = listeners.shares(2)
    mine.set_count(counts[0])
    other.set_count(counts[1])
    mine.give_way()
    assert bool(pauses) is gives_way


def test_a_process_alone_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.cli.serving.listeners.time.sleep", pytest.fail)
    (alone,) = listeners.shares(1)
    alone.set_count(1_000)
    alone.give_way()
