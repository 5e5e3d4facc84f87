"""The frames that a host process and its caller exchange over one socket.

A frame is four bytes of length (big-endian, without these four), one byte for its kind, and its payload. ``JSON`` is a
message of the call. The other kinds belong to a channel, a connection that the caller makes for the piece; their
payload begins with the channel's number in four bytes: ``OPEN`` requests a connection and answers the request, ``DATA``
carries bytes, ``END`` closes one direction, ``RESET`` closes both, ``CREDIT`` allows the other side to send more bytes.
"""

import struct
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.service.components.wire import LENGTH, ProtocolError

JSON, OPEN, DATA, END, RESET, CREDIT = b"J", b"O", b"D", b"E", b"R", b"W"
MAX_FRAME = 16 * 1024 * 1024
DATA_BYTES = 64 * 1024  # the most that a frame of data carries
WINDOW = 256 * 1024  # bytes that a side may send on a new channel before it gets credit
_HEAD = struct.Struct(">IcI")
_NUMBER = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; ``channel`` is 0 for a frame without a channel."""

    kind: bytes
    channel: int
    payload: bytes = field(repr=False, default=b"")

    def json(self) -> Any:
        """The payload parsed as JSON; None if it is empty. Raises :class:`ProtocolError`."""
        try:
            return orjson.loads(self.payload) if self.payload else None
        except ValueError as error:
            raise ProtocolError("not JSON") from error

    def credit(self) -> int:
        """The number of bytes that a frame of credit allows. Raises :class:`ProtocolError`."""
        if len(self.payload) != _NUMBER.size:
            raise ProtocolError("not a count")
        return int(_NUMBER.unpack(self.payload)[0])


def message(value: Any) -> bytes:
    """A frame with ``value`` as JSON. Raises ``TypeError`` if it cannot be serialized."""
    payload = orjson.dumps(value)
    return LENGTH.pack(len(payload) + 1) + JSON + payload


def of_channel(kind: bytes, channel: int, payload: bytes | memoryview = b"") -> bytes:
    """A frame of ``channel``."""
    return _HEAD.pack(5 + len(payload), kind, channel) + bytes(payload)


def credit(channel: int, count: int) -> bytes:
    """A frame that allows ``count`` more bytes on ``channel``."""
    return of_channel(CREDIT, channel, _NUMBER.pack(count))


def take(inbox: bytearray) -> Frame | None:
    """Remove the first complete frame from ``inbox`` and return it; None if incomplete.

    Raises :class:`ProtocolError`.
    """
    if len(inbox) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(inbox)
    if not 1 <= length <= MAX_FRAME:
        raise ProtocolError(f"a frame of {length} bytes")
    end = LENGTH.size + length
    if len(inbox) < end:
        return None
    kind = bytes(inbox[LENGTH.size : LENGTH.size + 1])
    payload = bytes(inbox[LENGTH.size + 1 : end])
    del inbox[:end]
    if kind == JSON:
        return Frame(kind, 0, payload)
    if len(payload) < _NUMBER.size:
        raise ProtocolError("a frame without its channel")
    return Frame(kind, _NUMBER.unpack_from(payload)[0], payload[_NUMBER.size :])
