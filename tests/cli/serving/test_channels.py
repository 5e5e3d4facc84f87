"""What a connection knows of itself: since when its request is coming, how much of it came, whether there is work."""

import socket
from types import SimpleNamespace
from typing import Any

from waitress.adjustments import Adjustments

from webapp.cli.serving.channels import Channel


def test_a_connection_waits_until_its_request_is_whole() -> None:
    ours, theirs = socket.socketpair()
    tasks: list[Any] = []
    server, polled = SimpleNamespace(add_task=tasks.append, active_channels={}), dict[int, Any]()
    forgotten: list[Channel] = []
    with theirs:
        channel = Channel(server, ours, ("192.0.2.1", 1), Adjustments(), map=polled)
        channel.forget = forgotten.append
        opened_at = channel.began_at
        channel.received(b"GET / HT")
        assert channel.waits and channel.began_at >= opened_at and channel.came == 8
        began_at = channel.began_at
        channel.received(b"TP/1.1\r\nHost: x\r\n\r\n")
        assert (channel.began_at, channel.came, tasks) == (began_at, 27, [channel])
        assert not channel.waits and polled == {channel.descriptor: channel}
        channel.close()
    assert forgotten == [channel] and polled == {}
