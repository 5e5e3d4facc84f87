"""The media type and size of PNG, JPEG and WebP images, read from their first bytes without decoding them."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

_SOF = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF})  # ITU-T T.81 table B.1


class Image(NamedTuple):
    """An image's media type, and its size in pixels."""

    media_type: str
    width: int
    height: int


def measure(content: bytes) -> Image | None:
    """The type and size of the image ``content``, or None for another format or a truncated image."""
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n") and content[12:16] == b"IHDR":
            return Image("image/png", *struct.unpack(">II", content[16:24]))
        if content.startswith(b"\xff\xd8\xff"):
            return _jpeg(content)
        if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
            return _webp(content)
    except (struct.error, IndexError):
        pass
    return None


def _jpeg(content: bytes) -> Image | None:
    for marker, start in _segments(content):
        if marker in _SOF:
            height, width = struct.unpack(">HH", content[start + 1 : start + 5])
            return Image("image/jpeg", width, height)
    return None


def _segments(content: bytes) -> Iterator[tuple[int, int]]:
    """The markers of a JPEG, each with the position after the length of its segment."""
    position = 2
    while content[position] == 0xFF:
        marker = content[position + 1]
        if marker == 0xFF:  # fill bytes
            position += 1
            continue
        yield marker, position + 4
        (length,) = struct.unpack(">H", content[position + 2 : position + 4])
        position += 2 + length


def _webp(content: bytes) -> Image | None:
    """The size of a WebP image (RFC 9649 section 2)."""
    kind = content[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
        return Image("image/webp", width, height) if len(content) >= 30 else None
    if kind == b"VP8L":
        (bits,) = struct.unpack("<I", content[21:25])
        return Image("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", content[26:30])
        return Image("image/webp", width & 0x3FFF, height & 0x3FFF)
    return None
