"""JSON is read strictly, a member is found by its path, and an answer prints without what may be secret."""

import pytest

from webapp.service.outbound.outcomes import Failure, Json, Response, at_path, parse_json


@pytest.mark.parametrize("body", [b"", b"{", b"NaN", b"\xff", b" <html>", b"[" * 101 + b"]" * 101, b"[" * 100_000])
def test_what_is_no_json_is_a_failure_with_a_sentence(body: bytes) -> None:
    parsed = parse_json(body)
    assert isinstance(parsed, Failure) and parsed.kind == "bad_response" and parsed.sentence.endswith(".")


def test_a_hundred_levels_and_a_byte_order_mark_are_read() -> None:
    assert isinstance(parse_json(b"[" * 99 + b"]" * 99), Json)
    assert parse_json(b'\xef\xbb\xbf{"a": null}') == Json({"a": None})


@pytest.mark.parametrize(
    ("path", "found"),
    [("", {"a": [{"b": 1}]}), ("a.0.b", 1), ("a.1", None), ("a.-1", None), ("a.b", None), ("x.y", None)],
)
def test_a_path_leads_to_a_member_or_to_none(path: str, found: object) -> None:
    assert at_path({"a": [{"b": 1}]}, path) == found


def test_an_answer_prints_without_its_secrets() -> None:
    answer = Response(200, {"Set-Cookie": "canary"}, b"canary", "https://example.com/?key=canary")
    assert answer.ok and "canary" not in repr(answer)


@pytest.mark.parametrize(("text", "seconds"), [("7", 7), ("999999", 86_400), ("Wed, 21 Oct 2026", None), ("", None)])
def test_retry_after(text: str, seconds: int | None) -> None:
    assert Response(200, {"retry-after": text}, b"", "https://example.com/").retry_after_s == seconds
