"""Frames: what a host process and whoever asks it say to each other over one socket, in both directions.

A frame is four bytes of length (big-endian, of what follows), one byte that tells its kind, and its payload. ``JSON``
is a message of the call. The others belong to a channel, a connection of the piece that the asker makes for it; their
payload begins with four bytes, the channel's number: ``OPEN`` asks for one and answers, ``DATA`` carries bytes, ``END``
is the last of one side, ``RESET`` ends both, ``CREDIT`` allows the other side so many bytes more.
"""

import struct
from dataclasses import dataclass, field
from typing import Any

import orjson

from webapp.service.components.wire import LENGTH, Broken

JSON, OPEN, DATA, END, RESET, CREDIT = b"J", b"O", b"D", b"E", b"R", b"W"
MAX_FRAME = 16 * 1024 * 1024
DATA_BYTES = 64 * 1024  # that a frame of data carries at most
WINDOW = 256 * 1024  # bytes that a side may send on a new channel before it is given credit
_HEAD = struct.Struct(">IcI")
_NUMBER = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; ``channel`` is 0 where it has none."""

    kind: bytes
    channel: int
    payload: bytes = field(repr=False, default=b"")

    def json(self) -> Any:
        """The payload read as JSON; None where it is empty. Raises :class:`Broken`."""
        try:
            return orjson.loads(self.payload) if self.payload else None
        except ValueError as error:
            raise Broken("not JSON") from error

    def credit(self) -> int:
        """How many bytes a frame of credit allows. Raises :class:`Broken`."""
        if len(self.payload) != _NUMBER.size:
            raise Broken("not a count")
        return int(_NUMBER.unpack(self.payload)[0])


def message(value: Any) -> bytes:
    """A frame with ``value`` as JSON. Raises ``TypeError`` for what JSON cannot carry."""
    payload = orjson.dumps(value)
    return LENGTH.pack(len(payload) + 1) + JSON + payload


def of_channel(kind: bytes, channel: int, payload: bytes | memoryview = b"") -> bytes:
    """A frame of ``channel``."""
    return _HEAD.pack(5 + len(payload), kind, channel) + bytes(payload)


def credit(channel: int, count: int) -> bytes:
    """A frame that allows ``count`` bytes more on ``channel``."""
    return of_channel(CREDIT, channel, _NUMBER.pack(count))


def take(inbox: bytearray) -> Frame | None:
    """The first whole frame in ``inbox``, taken out; None when more has to come. Raises :class:`Broken`."""
    if len(inbox) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack_from(inbox)
    if not 1 <= length <= MAX_FRAME:
        raise Broken(f"a frame of {length} bytes")
    end = LENGTH.size + length
    if len(inbox) < end:
        return None
    kind = bytes(inbox[LENGTH.size : LENGTH.size + 1])
    payload = bytes(inbox[LENGTH.size + 1 : end])
    del inbox[:end]
    if kind == JSON:
        return Frame(kind, 0, payload)
    if len(payload) < _NUMBER.size:
        raise Broken("a frame without its channel")
    return Frame(kind, _NUMBER.unpack_from(payload)[0], payload[_NUMBER.size :])
