"""A response keeps its secrets when it is printed, and understands Retry-After."""

import pytest

from webapp.service.outbound.responses import Response


def test_an_answer_prints_without_its_secrets() -> None:
    answer = Response(200, {"Set-Cookie": "canary"}, b"canary", "https://example.com/?key=canary")
    assert answer.ok and "canary" not in repr(answer)


@pytest.mark.parametrize(("text", "seconds"), [("7", 7), ("999999", 86_400), ("Wed, 21 Oct 2026", None), ("", None)])
def test_retry_after(text: str, seconds: int | None) -> None:
    assert Response(200, {"retry-after": text}, b"", "https://example.com/").retry_after_s == seconds
