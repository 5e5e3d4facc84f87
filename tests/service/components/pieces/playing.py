"""A call whose host process the test plays."""

import os
import socket
import time
from typing import Any

from webapp.service.components.pieces import frames
from webapp.service.components.pieces.channels import Reach
from webapp.service.components.pieces.conversation import Carrier


class Carried:
    """A call, whose host the test plays; it talks to ``peer`` from a thread where it has to answer."""

    def __init__(self, reach: Reach = Reach(), seconds: float = 5.0) -> None:  # noqa: B008
        near, self.peer = socket.socketpair()
        self.peer.settimeout(2)
        self.near, self.line = near, os.pipe()
        self.messages: list[Any] = []
        self.carrier = Carrier(near, reach, self._take, time.monotonic() + seconds, 1000)

    def _take(self, message: Any) -> bool:
        self.messages.append(message)
        return "value" in message

    def carry(self) -> bool:
        return self.carrier.carry(frames.message({"call": {}}), self.line[0])

    def close(self) -> None:
        self.carrier.close()
        for each in (self.peer, self.near):
            each.close()
        for descriptor in self.line:
            os.close(descriptor)
