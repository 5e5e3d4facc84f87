"""Name look-up with a time limit. The system's resolver knows none, so each look-up runs in a thread of its own.

A look-up that hangs is abandoned, not waited for; at most 64 may hang at once, beyond that look-ups fail at once.
"""

import socket
import threading
from collections.abc import Callable
from ipaddress import ip_address
from queue import Empty, SimpleQueue

from webapp.service.outbound.addresses import Address

Resolver = Callable[[str, float], list[Address]]
"""host, seconds → every address of it; raises OSError (TimeoutError when the time is over)."""

_slots = threading.BoundedSemaphore(64)


def resolve(host: str, timeout_s: float) -> list[Address]:
    """All addresses of `host` in the system's order of preference (RFC 6724), within `timeout_s` seconds.

    Raises OSError when the name has no address, TimeoutError when the answer took too long.
    """
    if not _slots.acquire(blocking=False):
        raise TimeoutError("too many name look-ups are hanging")
    answers: SimpleQueue[list[Address] | OSError] = SimpleQueue()
    threading.Thread(target=_look_up, args=(host, answers), name="name-look-up", daemon=True).start()
    try:
        answer = answers.get(timeout=max(timeout_s, 0.001))
    except Empty:
        raise TimeoutError("the name look-up took too long") from None
    if isinstance(answer, OSError):
        raise answer
    return answer


def _look_up(host: str, answers: "SimpleQueue[list[Address] | OSError]") -> None:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        answers.put(list(dict.fromkeys(ip_address(entry[4][0]) for entry in found)))
    except OSError as error:
        answers.put(error)
    except (UnicodeError, ValueError) as error:
        answers.put(OSError(str(error)))
    finally:
        _slots.release()
