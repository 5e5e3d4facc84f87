"""Clients that ask a server all the time: sockets of one thread, which sends bytes made before and reads lengths."""

import select
import socket
import time
from collections.abc import Iterator, Sequence

from tests.bench.calls import Request


def raw(wanted: Request, port: int) -> bytes:
    """``wanted`` as it is sent to a server at ``port``."""
    length = {"Content-Length": str(len(wanted.body))} if wanted.body else {}
    headers = {"Host": f"localhost:{port}", **wanted.headers, **length}
    lines = [f"{wanted.method} {wanted.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + wanted.body


def drive(port: int, requests: Sequence[bytes], seconds: float, clients: int) -> tuple[int, float, float]:
    """How many were answered, in how many seconds, and what that took of a processor here."""
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(clients)]
    by_number, missing = {each.fileno(): each for each in connections}, dict[int, int]()
    following = _endless(requests)
    epoll = select.epoll()
    began, own = time.perf_counter(), time.process_time()
    for each in connections:
        epoll.register(each, select.EPOLLIN)
        each.sendall(next(following))
    answered, left = 0, clients
    while left:
        for number, _ in epoll.poll():
            data = by_number[number].recv(1 << 18)
            rest = missing.get(number, 0) or _length(data)
            missing[number] = rest - len(data)
            if missing[number] > 0:
                continue
            answered += 1
            if time.perf_counter() - began < seconds:
                by_number[number].sendall(next(following))
            else:
                left -= 1
    wall_s, own_s = time.perf_counter() - began, time.process_time() - own
    epoll.close()
    for each in connections:
        each.close()
    return answered, wall_s, own_s


_position = [0]


def _endless(requests: Sequence[bytes]) -> Iterator[bytes]:
    """One after another, continuing where the round before ended: limits are counted for each user."""
    while True:
        _position[0] += 1
        yield requests[_position[0] % len(requests)]


def _length(data: bytes) -> int:
    """How long the answer is that begins with ``data``. Raises ``RuntimeError`` for one that is no success."""
    if not data.startswith(b"HTTP/1.1 2"):
        raise RuntimeError(data[:300].decode("utf-8", "replace"))
    head = data[: data.index(b"\r\n\r\n")].lower()
    begins = head.index(b"content-length: ") + 16
    return len(head) + 4 + int(head[begins:].partition(b"\r")[0])
