"""What is kept of requests that only a careless client would send."""

from typing import Any

import orjson

from webapp.service.components.masking import MASK
from webapp.service.domain.triggers.requests import InboundRequest, kept


def payload(**given: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "method": "POST", "path": "/", "url": "https://a/h/k", "query": (), "headers": (), "body": b"",
        "client_ip": "192.0.2.1", "at": 1,
    }  # fmt: skip
    found = kept(InboundRequest(**{**plain, **given})).payload()
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
