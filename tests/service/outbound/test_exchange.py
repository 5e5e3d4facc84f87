"""One exchange: to the pinned address alone, with the name in the Host header, within its limits of size and time."""

import ssl
from typing import Any

import pytest

from webapp.service.outbound.exchange import Message, Transport, compose, follow, tls_context
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.sockets import Deadline, LimitedTLSSocket
from webapp.service.outbound.streams import Stream
from webapp.service.outbound.urls import Url, parse_url

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"


def message(url: str, headers: dict[str, str] | None = None) -> Message:
    parsed = parse_url(url)
    assert isinstance(parsed, Url)
    composed = compose("GET", parsed, headers or {}, None, None, None)
    assert isinstance(composed, Message)
    return composed


def transport(*allowed: str) -> Transport:
    return Transport(Guard(allowed), "Patchbay-Test", tls_context(None))


def test_an_answer_within_the_limit_is_whole(peer: Any) -> None:
    target = peer(OK)
    answer = transport(f"127.0.0.1:{target.port}").exchange(message(target.url), Deadline(5), 10, cut=False)
    assert isinstance(answer, Response)
    assert (answer.status, answer.body) == (200, b"0123456789")
    assert f"Host: 127.0.0.1:{target.port}\r\n".encode() in target.requests[0]
    assert b"User-Agent: Patchbay-Test\r\n" in target.requests[0]


@pytest.mark.parametrize(("cut", "outcome"), [(True, b"012345678"), (False, "too_large")])
def test_a_larger_answer_is_cut_or_refused(peer: Any, cut: bool, outcome: object) -> None:
    target = peer(OK)
    answer = transport(f"127.0.0.1:{target.port}").exchange(message(target.url), Deadline(5), 9, cut=cut)
    assert (answer.kind if isinstance(answer, Failure) else answer.body) == outcome


def test_what_the_guard_refuses_is_never_connected_to(peer: Any, connects: list[object]) -> None:
    target = peer(OK)
    refused = transport().exchange(message(target.url), Deadline(5), 10, cut=False)
    assert isinstance(refused, Failure) and refused.kind == "refused_by_guard"
    assert isinstance(transport().begin(message(target.url), Deadline(5), "identity"), Failure)
    assert (connects, target.connections) == ([], 0)


def test_an_own_user_agent_takes_the_place_of_ours(peer: Any) -> None:
    target = peer(OK)
    sent = message(target.url, {"user-agent": "Own/1"})
    transport(f"127.0.0.1:{target.port}").exchange(sent, Deadline(5), 10, cut=False)
    assert b"Patchbay-Test" not in target.requests[0]
    assert b"Own/1" in target.requests[0]


def test_begin_fails_like_exchange(peer: Any) -> None:
    nonsense = peer(b"SSH-2.0-OpenSSH_9.9\r\n")
    failure = transport(f"127.0.0.1:{nonsense.port}").begin(message(nonsense.url), Deadline(5), "identity")
    assert not isinstance(failure, Stream)
    assert failure.kind == "bad_response"


def test_one_strict_context_for_each_set_of_authorities(authority: Any) -> None:
    context = tls_context(None)
    assert tls_context(None) is context is not tls_context(authority.ca_file)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.sslsocket_class is LimitedTLSSocket


def url(text: str) -> Url:
    parsed = parse_url(text)
    assert isinstance(parsed, Url)
    return parsed


HERE, THERE = url("https://a.example/1"), url("https://b.example/2")


def composed_message(method: str = "GET", headers: dict[str, str] | None = None, **body: Any) -> Message:
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
    assert composed_message("POST", json={"a": 1}).headers == {"Content-Type": "application/json"}
    assert composed_message("POST", data={"a": "b c"}).body == b"a=b+c"
    assert composed_message("POST", {"content-type": "application/x"}, json=1).headers == {
        "content-type": "application/x"
    }
    assert composed_message(auth=("u", "p")).headers == {"Authorization": "Basic dTpw"}


def test_another_origin_gets_harmless_headers_alone() -> None:
    sent = composed_message(headers={"Authorization": "Bearer canary", "X-Key": "canary", "Accept": "text/html"})
    same, other = follow(sent, 302, url("https://a.example/2")), follow(sent, 302, THERE)
    assert isinstance(same, Message) and same.headers == sent.headers
    assert isinstance(other, Message) and other.headers == {"Accept": "text/html"}


def test_a_body_goes_on_only_where_it_may() -> None:
    sent = composed_message("POST", data=b"x")
    as_get = follow(sent, 303, THERE)
    assert isinstance(as_get, Message) and (as_get.method, as_get.body) == ("GET", None)
    for status, target in ((307, THERE), (302, url("http://a.example/"))):
        refused = follow(sent, status, target)
        assert isinstance(refused, Failure) and refused.kind == "redirect_refused"
