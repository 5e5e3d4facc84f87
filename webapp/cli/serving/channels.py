"""One connection of the HTTP server: what waitress keeps of it, and since when its request is coming."""

import time
from collections.abc import Callable
from typing import Any

from waitress.channel import HTTPChannel


class Channel(HTTPChannel):
    """One connection, which tells ``forget`` when it is closed.

    ``began_at`` is since when its next request is awaited, or has been coming; ``came`` is how much of it has come, and
    ``answered`` whether there was one before.
    """

    forget: "Callable[[Channel], None]"
    network = ""
    came = 0
    answered = False
    _held: list[bytes] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.began_at = time.monotonic()

    def received(self, data: bytes) -> bool:
        """Take in what came."""
        if self.request is None:
            self.began_at, self.came = time.monotonic(), 0
        self.came += len(data)
        return bool(super().received(data))

    def send_together(self, write: Callable[[], None]) -> None:
        """Send at once what ``write`` writes in parts: each part would be a packet, and wake the client."""
        self._held = held = list[bytes]()
        try:
            write()
        finally:
            self._held = None
        super().write_soon(b"".join(held))

    def write_soon(self, data: Any) -> int:
        """Send ``data`` as soon as the client takes it; its length."""
        if self._held is None:
            return int(super().write_soon(data))
        self._held.append(data)
        return len(data)

    def handle_close(self) -> None:
        """Close it; a client that sends a last word and hangs up is told of twice."""
        if self._fileno is not None:  # type: ignore[attr-defined]
            super().handle_close()

    def del_channel(self, map: Any = None) -> None:
        """It is closed."""
        self.forget(self)
        super().del_channel(map)

    @property
    def waits(self) -> bool:
        """Whether nothing is to be answered, sent or closed."""
        return not (self.requests or self.total_outbufs_len or self.will_close or self.close_when_flushed)

    @property
    def descriptor(self) -> int:
        """The number of its socket."""
        return int(self._fileno)  # type: ignore[attr-defined]  # of waitress, which carries no types
