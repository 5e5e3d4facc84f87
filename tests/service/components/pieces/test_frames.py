"""What is written comes out whole, however it is cut; what is no frame is refused."""

import pytest

from webapp.service.components.pieces import frames
from webapp.service.components.pieces.frames import Frame
from webapp.service.components.wire import ProtocolError


def test_frames_come_out_as_they_were_written_in_whatever_blocks_they_arrive() -> None:
    written = (
        frames.message({"log": "ö"})
        + frames.of_channel(frames.DATA, 7, b"bytes")
        + frames.credit(8, 65_536)
        + frames.of_channel(frames.END, 7)
    )
    inbox, taken = bytearray(), list[Frame]()
    for byte in written:
        inbox.append(byte)
        while (frame := frames.take(inbox)) is not None:
            taken.append(frame)
    assert [(frame.kind, frame.channel) for frame in taken] == [(b"J", 0), (b"D", 7), (b"W", 8), (b"E", 7)]
    assert (taken[0].json(), taken[1].payload, taken[2].credit(), taken[3].json()) == (
        {"log": "ö"},
        b"bytes",
        65_536,
        None,
    )
    assert inbox == b""


@pytest.mark.parametrize(
    "content",
    [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x01\x00\x00\x01D", b"\0\0\0\x03D\0\0"],
    ids=["empty", "endless", "too large", "without its channel"],
)
def test_what_is_no_frame_is_refused(content: bytes) -> None:
    with pytest.raises(ProtocolError):
        frames.take(bytearray(content))


@pytest.mark.parametrize("payload", [b"{", b"\xff"])
def test_a_payload_that_is_no_json_is_refused(payload: bytes) -> None:
    with pytest.raises(ProtocolError):
        Frame(frames.JSON, 0, payload).json()


def test_credit_of_another_form_is_refused() -> None:
    with pytest.raises(ProtocolError):
        Frame(frames.CREDIT, 1, b"12").credit()
