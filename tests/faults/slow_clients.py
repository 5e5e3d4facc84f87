"""A process that keeps a thousand requests coming to a port of this machine, one byte every few seconds each.

They come from many addresses, and connect anew when they are ended. It prints a line when all are open; when its input
closes it prints how many are open then, and how many were ended meanwhile.
"""

import resource
import select
import socket
import sys

SLOW, ADDRESSES, EVERY_S = 1_000, 250, 3.0
_BEGINNINGS = (b"GET / HTTP/1.1\r\nX-Slow: ", b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n")


def connect(port: int, number: int) -> socket.socket:
    """One that has begun a request."""
    source = (f"127.0.{1 + number % ADDRESSES}.1", 0)
    client = socket.create_connection(("127.0.0.1", port), 30, source_address=source)
    client.sendall(_BEGINNINGS[number % 2])
    client.setblocking(False)
    return client


def is_open(client: socket.socket) -> bool:
    """Whether one byte more could be sent, and nothing was answered."""
    try:
        client.send(b"a")
        client.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        pass
    client.close()
    return False


def main(port: int) -> None:
    """Go on until standard input closes."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    clients = [connect(port, number) for number in range(SLOW)]
    print("open", flush=True)
    ended, turn = 0, 0
    while not select.select([sys.stdin], [], [], EVERY_S / 100)[0]:
        turn += 1
        for number in range(turn % 100, SLOW, 100):
            if not is_open(clients[number]):
                ended += 1
                clients[number] = connect(port, number)
    print(sum(map(is_open, clients)), ended, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
