"""Payloads of requests that only a careless client would send."""

from typing import Any

import orjson
import pytest

from webapp.service.components.masking import MASK
from webapp.service.domain.triggers.requests import MAX_DEPTH, InboundRequest, request_payload


def payload(**given: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "method": "POST", "path": "/", "url": "https://a/h/k", "query": (), "headers": (), "body": b"",
        "client_ip": "192.0.2.1", "at": 1,
    }  # fmt: skip
    found = request_payload(InboundRequest(**{**plain, **given}))
    orjson.dumps({"e": [found]})
    return found


def test_repeated_names() -> None:
    found = payload(
        query=(("a", "1"), ("b", "2"), ("a", "3")),
        headers=(("X-A", "1"), ("x-a", "2"), ("Cookie", "c=1"), ("cookie", "d=2")),
    )
    assert found["query"] == {"a": ["1", "3"], "b": "2"}
    assert found["headers"] == {"x-a": "1, 2", "cookie": MASK}


def test_lone_surrogates_are_replaced() -> None:
    found = payload(query=(("\ud800", "\udfff"),), headers=(("X-A", "\ud800"),))
    assert "\ud800" not in repr(found)


@pytest.mark.parametrize(("depth", "kind"), [(MAX_DEPTH, list), (MAX_DEPTH + 1, str), (100_000, str)])
def test_deep_bodies(depth: int, kind: type) -> None:
    assert isinstance(payload(body=b"[" * depth + b"]" * depth)["body"], kind)


def test_numbers_beyond_64_bits_do_no_harm() -> None:
    assert payload(body=b"[1e400, 1]")["body"] == "[1e400, 1]"
    assert payload(body=b"[123456789012345678901234567890]")["bodyRaw"] == "[123456789012345678901234567890]"
