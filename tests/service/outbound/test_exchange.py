"""One exchange: to the pinned address alone, with the name in the Host header, within its limits of size and time."""

import ssl
from typing import Any

import pytest

from webapp.service.outbound.deadline import Deadline
from webapp.service.outbound.exchange import Transport, tls_context
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.messages import Message, compose
from webapp.service.outbound.outcomes import Failure, Response
from webapp.service.outbound.sockets import LimitedTLSSocket
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
