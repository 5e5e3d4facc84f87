"""Event streams are read as the HTML Standard says (section 9.2.6), whatever blocks they come in."""

import time

import pytest

from webapp.service.outbound.server_sent_events import EventReader, ServerSentEvent

STREAM = (
    "\ufeff: a comment\r\nid: 7\r\nevent: endpoint\r\ndata: /m\r\n\r\ndata: {\ndata: }\n\nid\ndata:x\r\rdata: cut off"
).encode()
EVENTS = [
    ServerSentEvent("endpoint", "/m", "7"),
    ServerSentEvent("message", "{\n}", "7"),
    ServerSentEvent("message", "x", ""),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(STREAM)])
def test_events_are_whole_whatever_the_blocks(size: int) -> None:
    reader = EventReader()
    blocks = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    assert [event for block in blocks for event in reader.feed(block)] == EVENTS


def test_characters_may_be_cut_between_blocks() -> None:
    reader = EventReader()
    (event,) = [event for byte in "data: é\n\n".encode() for event in reader.feed(bytes([byte]))]
    assert event.data == "é"


def test_an_event_without_data_is_none_but_its_id_and_retry_count() -> None:
    reader = EventReader()
    assert reader.feed(b"id: 3\nretry: 250\nevent: ping\n\nretry: soon\nid: a\0b\n\n") == []
    assert (reader.last_id, reader.retry_ms) == ("3", 250)
    assert reader.feed(b"retry: 99999999999\n\n") == []
    assert reader.retry_ms == 60_000


def test_a_line_that_never_ends_is_not_looked_through_again_with_each_block() -> None:
    reader, began = EventReader(), time.process_time()
    assert [event for _ in range(2_500) for event in reader.feed(b"x" * 4_096)] == []
    assert time.process_time() - began < 3, "which is 25 times what it takes"
