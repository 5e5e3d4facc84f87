"""A look at what confines, in a process of its own, leaves this one as it is."""

import socket

from webapp.service.components.confinement.looking import look


def test_a_look_tells_and_changes_nothing() -> None:
    names = [measure.name for measure in look()]
    assert names == ["files", "network", "signals", "processes", "count", "calls", "programs"]
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), 1).close()
