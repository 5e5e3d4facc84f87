"""The loop of an HTTP server: waits for what clients send and for whoever can take more, and deals with it in turns.

Waiting costs nothing. What it deals with takes the place of a request (:mod:`webapp.cli.serving.dispatching`).
"""

import select
from typing import Any

from waitress import wasyncore

from webapp.cli.serving.connections import Connections
from webapp.cli.serving.dispatching import Dispatcher


class Loop:
    """All that is ``polled``, by descriptor, and the ``connections`` among it."""

    def __init__(self, polled: dict[int, Any], connections: Connections, dispatcher: Dispatcher) -> None:
        self.polled, self.connections = polled, connections
        self._dispatcher, self._place = dispatcher, dispatcher.reader
        self._place.leave()

    def turn(self, timeout_s: float) -> None:
        """Wait for at most ``timeout_s`` seconds, and deal with what has come."""
        if self._dispatcher.crowded:
            self._dispatcher.put_off_reading()
            self._place.wait()
            events = self._poll(0)
        else:
            events = self._poll(min(timeout_s, self.connections.pause_s()))
            self._place.come_back()
        try:
            for descriptor, flags in events:
                if (entry := self.polled.get(descriptor)) is not None:
                    wasyncore.readwrite(entry, flags)
            self.connections.settle()
        finally:
            self._place.leave()

    def _poll(self, timeout_s: float) -> list[tuple[int, int]]:
        """What has come, as waitress polls for it."""
        pollster = select.poll()
        for descriptor, entry in list(self.polled.items()):
            flags = select.POLLIN | select.POLLPRI if entry.readable() else 0
            if entry.writable() and not entry.accepting:
                flags |= select.POLLOUT
            if flags:
                pollster.register(descriptor, flags)
        return pollster.poll(int(timeout_s * 1000))
