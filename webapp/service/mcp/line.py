"""What a call of a tool and its client tell each other while it goes on.

The thread that works puts messages on the line, another one sends them. What the client answers, or that it wants the
call no more, comes with a later request, maybe to another process, as a signal that is looked for.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from webapp.kit.cancellation import Cancellation
from webapp.service.domain.agents import signals
from webapp.service.domain.base.service import Service
from webapp.service.mcp.conversations import Client
from webapp.service.mcp.protocol import Message

T = TypeVar("T")
Places = threading.BoundedSemaphore
"""How many calls may wait for people at once; the others do not wait."""
LOOK_EVERY_S = 0.5
ANSWER, CANCELLED = "answer", "cancelled"
_ANSWERS = ("accept", "decline", "cancel")


class Line:
    """The line of one call. ``streams``: its client takes messages before the answer."""

    def __init__(self, service: Service, client: Client, message: Message, places: Places, *, streams: bool) -> None:
        self.cancellation, self.streams, self.words = Cancellation(), streams, ""
        self._service, self._client, self._places = service, client, places
        self._messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._cancelled = signals.name_of(service, [client.session, CANCELLED, message.id or ""])

    def send(self, message: dict[str, Any] | None) -> None:
        """Put a message on the line; None is the end of the call."""
        self._messages.put(message)

    def take(self, seconds: float) -> dict[str, Any] | None:
        """The next message, None at the end. Raises :class:`queue.Empty` where none comes within ``seconds``."""
        return self._messages.get(timeout=seconds)

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next message, None at the end, or ``{}`` where none comes within ``seconds``."""
        try:
            return self.take(seconds)
        except Empty:
            return {}

    def look_for_end(self) -> None:
        """End the call where its client said so in a later request."""
        if self._client.session and signals.look(self._service, self._cancelled) is not None:
            self.cancellation.request()

    def wait(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """What ``look`` sees within ``seconds``, if anything; at once where as many wait as may."""
        if not self._places.acquire(blocking=False):
            return look()
        try:
            end = time.monotonic() + seconds
            while (value := look()) is None and time.monotonic() < end and not self.cancellation.is_requested:
                time.sleep(LOOK_EVERY_S)
            return value
        finally:
            self._places.release()

    def ask(self, params: Mapping[str, Any], seconds: float) -> str | None:
        """What the person answers to a question that a client of an older revision shows: accept, decline or cancel."""
        number = f"ask-{secrets.token_urlsafe(12)}"
        self.send({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": dict(params)})
        name = signals.name_of(self._service, [self._client.session, ANSWER, number])
        return self.wait(lambda: signals.look(self._service, name), seconds)


def hear(service: Service, client: Client, message: Message) -> None:
    """Pass on what ``message``, to which nobody expects an answer, says about a call that goes on."""
    if not client.session:
        return
    if message.method is None and message.id is not None:
        result = message.result if isinstance(message.result, dict) else {}
        action = result.get("action")
        answer = action if action in _ANSWERS else "cancel"
        signals.send(service, signals.name_of(service, [client.session, ANSWER, message.id]), answer)
    elif message.method == "notifications/cancelled":
        number = message.params.get("requestId")
        if isinstance(number, str | int) and not isinstance(number, bool):
            signals.send(service, signals.name_of(service, [client.session, CANCELLED, number]), CANCELLED)
