"""What an image is and how large it is, read off its first bytes."""

import struct

import pytest

from webapp.kit import images
from webapp.kit.images import Image

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 300, 200) + bytes(5)
SOF = b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", 200, 300) + bytes(10)
JPEG = b"\xff\xd8\xff\xe0\x00\x04JF\xff" + SOF
LOSSY = b"RIFF\x00\x00\x00\x00WEBPVP8 " + bytes(10) + struct.pack("<HH", 300, 200)
LOSSLESS = b"RIFF\x00\x00\x00\x00WEBPVP8L" + bytes(5) + struct.pack("<I", 299 | 199 << 14)
EXTENDED = b"RIFF\x00\x00\x00\x00WEBPVP8X" + bytes(8) + (299).to_bytes(3, "little") + (199).to_bytes(3, "little")


@pytest.mark.parametrize(
    "content, media_type",
    [
        (PNG, "image/png"), (JPEG, "image/jpeg"), (LOSSY, "image/webp"), (LOSSLESS, "image/webp"),
        (EXTENDED, "image/webp"),
    ],
)  # fmt: skip
def test_type_and_size_are_read_and_what_breaks_off_is_nothing(content: bytes, media_type: str) -> None:
    assert images.measure(content + b"more") == Image(media_type, 300, 200)
    for end in range(17):
        assert images.measure(content[:end]) is None


@pytest.mark.parametrize(
    "content", [b"", b"GIF89a\x01\x00\x01\x00", b"<svg/>", b"\xff\xd8\xff\xd9", b"RIFF\0\0\0\0WEBPXYZ " + bytes(20)]
)
def test_anything_else_is_no_image(content: bytes) -> None:
    assert images.measure(content) is None
