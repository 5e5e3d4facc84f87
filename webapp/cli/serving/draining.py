"""The end of an HTTP server's loop: what has begun is finished, within a time, and nothing new is taken."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from waitress import wasyncore

from webapp.cli.serving.channels import Channel
from webapp.cli.serving.looping import Loop

GRACE_S = 10.0
LEAVE_S = 60.0  # of a process that was replaced, where nobody waits for its end
LINGER_S = 2.0  # for which it still answers on connections that are open
SETTLE_S = 0.2
log = logging.getLogger(__name__)


def drain(loop: Loop, listeners: Sequence[Any], *, replaced: bool) -> None:
    """Take what has arrived already, then nothing new, and wait for what has begun.

    Whoever replaced this process takes what arrives at the socket, and the clients that keep connections here: each of
    them is told at its next answer that this was the last. A request that has begun to come is awaited there, but not
    where the whole service ends. The triggers stay, since working threads use them.
    """

    def over() -> bool:
        return not (_busy(loop) or (replaced and loop.connections.receiving))

    now, grace_s = time.monotonic(), LEAVE_S if replaced else GRACE_S
    if not replaced:
        _turn_until(now + SETTLE_S, loop, lambda: False)
    for listener in listeners:
        wasyncore.dispatcher.close(listener)
    if replaced:
        _turn_until(now + LINGER_S, loop, lambda: not (loop.connections.idle or _busy(loop)))
    if not _turn_until(now + grace_s, loop, over):
        log.warning("Requests that took longer than %g s were cut off.", grace_s)


def _turn_until(deadline: float, loop: Loop, done: Callable[[], bool]) -> bool:
    """Keep serving until ``done`` or the deadline; whether it was ``done``."""
    while not done():
        if time.monotonic() >= deadline:
            return False
        loop.turn(0.05)
    return True


def _busy(loop: Loop) -> bool:
    """Whether a request is being answered, or an answer not sent yet."""
    channels = [entry for entry in loop.polled.values() if isinstance(entry, Channel)]
    return any(channel.requests or channel.total_outbufs_len for channel in channels)
