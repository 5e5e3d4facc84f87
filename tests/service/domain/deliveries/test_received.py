"""A request is kept once, as bytes, and its payload composed when it is asked for."""

from typing import Any

import orjson
import pytest

from webapp.service.domain.deliveries import received
from webapp.service.domain.deliveries.received import MAX_DEPTH, ReceivedRequest


def request(content: bytes, content_type: str = "text/plain") -> ReceivedRequest:
    facts = {
        "method": "POST",
        "headers": {"content-type": content_type},
        "body": None,
        "bodyRaw": None,
        "url": "https://a",
    }
    return ReceivedRequest(facts, content)


def payload(content: bytes) -> dict[str, Any]:
    return request(content).payload()


CONTENTS = [b"", b"{}", b"\n\x01\n", "é\ud7ff\U0001f600".encode() * 100_000, b"\xff\xe2\x82" * 100_000, b'["\\n"]' * 9]


@pytest.mark.parametrize("content", CONTENTS)
def test_what_was_packed_is_what_is_unpacked(content: bytes) -> None:
    came = request(content)
    packed, beside = came.packed()
    assert received.is_packed(packed) and not received.is_packed(orjson.dumps(came.payload()))
    assert received.unpacked(packed, beside) == came
    assert (beside, len(packed) < 200) == (
        (content, True) if len(content) > received.SMALL else (b"", len(packed) < 200)
    )
    assert list(came.payload()) == ["method", "headers", "body", "bodyRaw", "url"]


@pytest.mark.parametrize("content", CONTENTS)
def test_the_size_is_known_without_writing_it(content: bytes) -> None:
    length, size = len(orjson.dumps(request(content).payload())), request(content).size()
    assert length <= size <= length + len(orjson.dumps(content.decode("utf-8", "replace"))) + 20


def test_control_characters_are_kept_as_the_bytes_that_came() -> None:
    came = request(b"\x01" * 1_000_000)
    assert sum(map(len, came.packed())) < 1_000_200
    assert 12_000_000 < came.size() < 12_000_200


@pytest.mark.parametrize("content_type", ["application/json", "Application/Problem+JSON; charset=utf-8"])
def test_what_says_that_it_is_json_is_read(content_type: str) -> None:
    assert request(b"12", content_type).payload()["body"] == 12


@pytest.mark.parametrize(("depth", "kind"), [(MAX_DEPTH, list), (MAX_DEPTH + 1, str), (100_000, str)])
def test_deep_bodies(depth: int, kind: type) -> None:
    assert isinstance(payload(b"[" * depth + b"]" * depth)["body"], kind)


def test_numbers_beyond_64_bits_do_no_harm() -> None:
    assert payload(b"[1e400, 1]")["body"] == "[1e400, 1]"
    assert payload(b"[123456789012345678901234567890]")["bodyRaw"] == "[123456789012345678901234567890]"
