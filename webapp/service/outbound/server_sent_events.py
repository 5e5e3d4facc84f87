"""Reads an event stream while it arrives (HTML Standard, section 9.2.6, "Interpreting an event stream").

A reader takes blocks of bytes of any size and gives whole events. How much may come is for the connection to bound.
"""

import codecs
import re
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")
_MOST_RETRY_MS = 60_000


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event. ``name`` is ``message`` where the stream names none; ``id`` is the last one that the stream gave."""

    name: str
    data: str
    id: str


class EventReader:
    """The events of one stream. ``last_id`` and ``retry_ms`` are what the stream said last; None until it did."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun, self._after_return = False, False
        self._line_parts = list[str]()
        self._name, self._data = "", list[str]()
        self.last_id = ""
        self.retry_ms: int | None = None

    def feed(self, block: bytes) -> list[ServerSentEvent]:
        """The events that ``block`` completes. What came before it is not looked through again."""
        text = self._text.decode(block)
        if not text:
            return []
        if not self._begun:
            text, self._begun = text.removeprefix("\ufeff"), True
        if self._after_return:
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r")
        *ends, rest = _LINE_END.split(text)
        events = list[ServerSentEvent]()
        for end in ends:
            line, self._line_parts = "".join((*self._line_parts, end)), []
            if (event := self._line(line)) is not None:
                events.append(event)
        self._line_parts.append(rest)
        return events

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._dispatched()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        elif name == "id" and "\0" not in value:
            self.last_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = min(int(value[:9]), _MOST_RETRY_MS)
        return None

    def _dispatched(self) -> ServerSentEvent | None:
        name, data = self._name or "message", self._data
        self._name, self._data = "", []
        return ServerSentEvent(name, "\n".join(data), self.last_id) if data else None
