"""Sockets to listen on, and why a port cannot be used. Known without loading the server that answers on them."""

import os
import socket


def listen(host: str, port: int) -> list[socket.socket]:
    """Sockets on every address that ``host`` has. Raises ``OSError`` when one of them is taken or not ours."""
    candidates = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, address in dict.fromkeys((entry[0], entry[4]) for entry in candidates):
            sockets.append(socket.create_server(address, family=family, backlog=1024))
    except BaseException:
        for listener in sockets:
            listener.close()
        raise
    return sockets


def reason(error: OSError) -> str:
    """Why a port cannot be used, in the system's own few words."""
    known = isinstance(error.errno, int) and error.errno > 0
    return (os.strerror(error.errno) if known else error.strerror or str(error)).lower()  # type: ignore[arg-type]
