"""A request is checked before it is sent, and a redirect carries no credential to another origin."""

from typing import Any

import pytest

from webapp.service.outbound.messages import Message, compose, follow
from webapp.service.outbound.outcomes import Failure
from webapp.service.outbound.urls import Url, parse_url


def url(text: str) -> Url:
    parsed = parse_url(text)
    assert isinstance(parsed, Url)
    return parsed


HERE, THERE = url("https://a.example/1"), url("https://b.example/2")


def message(method: str = "GET", headers: dict[str, str] | None = None, **body: Any) -> Message:
    composed = compose(method, HERE, headers or {}, body.get("data"), body.get("json"), body.get("auth"))
    assert isinstance(composed, Message)
    return composed


@pytest.mark.parametrize(
    ("method", "headers"),
    [("TRACE", {}), ("GET", {"Host": "x"}), ("GET", {"A b": "x"}), ("GET", {"A": "x\r\nB: y"}), ("GET", {"Te": "x"})],
)
def test_what_may_not_be_sent_is_refused(method: str, headers: dict[str, str]) -> None:
    refused = compose(method, HERE, headers, None, None, None)
    assert isinstance(refused, Failure) and refused.kind == "refused_by_guard"


def test_bodies_bring_their_type_unless_a_header_gives_one() -> None:
    assert message("POST", json={"a": 1}).headers == {"Content-Type": "application/json"}
    assert message("POST", data={"a": "b c"}).body == b"a=b+c"
    assert message("POST", {"content-type": "application/x"}, json=1).headers == {"content-type": "application/x"}
    assert message(auth=("u", "p")).headers == {"Authorization": "Basic dTpw"}


def test_another_origin_gets_harmless_headers_alone() -> None:
    sent = message(headers={"Authorization": "Bearer canary", "X-Key": "canary", "Accept": "text/html"})
    same, other = follow(sent, 302, url("https://a.example/2")), follow(sent, 302, THERE)
    assert isinstance(same, Message) and same.headers == sent.headers
    assert isinstance(other, Message) and other.headers == {"Accept": "text/html"}


def test_a_body_goes_on_only_where_it_may() -> None:
    sent = message("POST", data=b"x")
    as_get = follow(sent, 303, THERE)
    assert isinstance(as_get, Message) and (as_get.method, as_get.body) == ("GET", None)
    for status, target in ((307, THERE), (302, url("http://a.example/"))):
        refused = follow(sent, status, target)
        assert isinstance(refused, Failure) and refused.kind == "redirect_refused"
