"""The client against real peers on loopback that are slow, endless, huge, broken, hostile or merely redirecting."""

import gzip
import socket
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

import pytest

from tests.conftest import CountedSlot
from webapp.service.outbound.bodies import Json, at_path
from webapp.service.outbound.client import OutboundClient, compose, follow
from webapp.service.outbound.failures import Failure
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.request_signing import SigV4
from webapp.service.outbound.responses import Response
from webapp.service.outbound.transport import Message
from webapp.service.outbound.urls import HostRules, Url, parse_url

SLACK_S = 2.0  # beyond a deadline, for a machine that is busy with other things; measured idle: 0.03
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n" + b'{"a": 1}'


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def failure(outcome: Any) -> Failure:
    assert isinstance(outcome, Failure), outcome
    assert outcome.sentence.endswith(".")
    return outcome


def response(outcome: Any) -> Response:
    assert isinstance(outcome, Response), outcome
    return outcome


# What goes out


def test_others_compute_while_an_answer_is_awaited(peer: Any, reach: Any, slot: CountedSlot) -> None:
    target = peer(OK)
    assert response(reach(target).request("GET", target.url)).status == 200 and (slot.released, slot.reacquired) == (
        1,
        1,
    )
    streamed = reach(target).stream("GET", target.url, allowed_hosts=HostRules.of(target.url.removeprefix("http://")))
    streamed.close()
    assert (slot.released, slot.reacquired) == (2, 2)


def test_a_request_carries_what_was_asked_and_nothing_of_the_machine(
    peer: Any, reach: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    target = peer(OK)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password canary")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    outcome = reach(target).request(
        "POST", f"{target.url}/p?x=1#f", params={"q": "a b&c"}, json={"k": "ü"}, headers={"X-Own": "v"}
    )
    assert response(outcome).json() == Json({"a": 1})
    head, body = target.requests[0].split(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /p?x=1&q=a+b%26c HTTP/1.1"
    assert set(lines[1:]) == {
        f"Host: 127.0.0.1:{target.port}",
        "Accept-Encoding: gzip, deflate",
        "Connection: close",
        "User-Agent: Patchbay-Test",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "X-Own: v",
    }
    assert body == b'{"k":"\\u00fc"}'


def test_forms_basic_auth_and_raw_bytes(peer: Any, reach: Any) -> None:
    target = peer(OK)
    client = reach(target)
    client.request("POST", target.url, data={"a": "1 2"}, auth=("ü", "p:w"))
    client.request("PUT", target.url, data=b"\x00raw", headers={"content-type": "application/x-raw"})
    assert b"Authorization: Basic w7w6cDp3" in target.requests[0]
    assert b"Content-Type: application/x-www-form-urlencoded" in target.requests[0]
    assert target.requests[0].endswith(b"\r\n\r\na=1+2")
    assert target.requests[1].endswith(b"\r\n\r\n\x00raw")
    assert target.requests[1].lower().count(b"content-type") == 1


def test_cookies_are_not_kept(peer: Any, reach: Any) -> None:
    target = peer(answer(b"", "Set-Cookie: s=1; Path=/"))
    client = reach(target)
    for _ in range(2):
        client.request("GET", target.url)
    assert b"cookie" not in target.requests[1].lower()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "b\r\nX-Evil: 1"),
        ("X-A", "b\nX-Evil: 1"),
        ("X-A", "b\rX"),
        ("X-A", "b\x00"),
        ("X-A", "☃"),
        ("X-A\r\nX-Evil", "1"),
        ("X A", "1"),
        ("X-A:", "1"),
        ("", "1"),
        ("Host", "evil.test"),
        ("hOsT", "evil.test"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("Proxy-Authorization", "x"),
    ],
)
def test_header_injection_is_refused(peer: Any, reach: Any, name: str, value: str) -> None:
    target = peer(OK)
    outcome = failure(reach(target).request("GET", target.url, headers={name: value}))
    assert outcome.kind == "refused_by_guard"
    assert target.connections == 0


def test_other_methods_are_refused(peer: Any, reach: Any) -> None:
    target = peer(OK)
    for method in ("CONNECT", "TRACE", "get", "GET / HTTP/1.1\r\nX: y\r\n"):
        assert failure(reach(target).request(method, target.url)).kind == "refused_by_guard"
    assert target.connections == 0


def test_a_credential_goes_only_to_the_declared_hosts(peer: Any, reach: Any) -> None:
    target = peer(OK)
    client = reach(target)
    rules = HostRules.of("api.example.com", f"127.0.0.1:{target.port}")
    assert response(client.request("GET", target.url, allowed_hosts=rules)).ok
    other = failure(client.request("GET", target.url, allowed_hosts=HostRules.of("api.example.com")))
    assert other.kind == "refused_by_guard"
    assert target.connections == 1


def test_many_threads_share_one_client(peer: Any, reach: Any) -> None:
    target = peer(lambda connection, request: connection.sendall(answer(request.split(b" ")[1])))
    client = reach(target)
    bodies: list[bytes] = []

    def call(number: int) -> None:
        bodies.append(response(client.request("GET", f"{target.url}/{number}")).body)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(bodies) == sorted(f"/{number}".encode() for number in range(20))


# What comes back


def drip(data: bytes, pause: float) -> Callable[[socket.socket, bytes], None]:
    def script(connection: socket.socket, _: bytes) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(pause)

    return script


def endless(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * 1000)
        time.sleep(0.02)


def silent(connection: socket.socket, _: bytes) -> None:
    connection.recv(1)


def continues(connection: socket.socket, _: bytes) -> None:
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.02)


def hollow_gzip(connection: socket.socket, _: bytes) -> None:
    """Empty deflate blocks: bytes without end that unpack to nothing."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10])
    while True:
        connection.sendall(b"\x00\x00\x00\xff\xff" * 200)
        time.sleep(0.02)


@pytest.mark.parametrize(
    "script",
    [
        drip(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 100, 0.1),
        drip(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 90, 0.1),
        drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 90, 0.1),
        endless,
        silent,
        continues,
        hollow_gzip,
    ],
    ids=["status", "headers", "chunks", "endless body", "silence", "100 Continue", "hollow gzip"],
)
def test_the_deadline_is_total_and_exact(peer: Any, reach: Any, script: Any) -> None:
    target = peer(script)
    started = time.monotonic()
    outcome = failure(reach(target).request("GET", target.url, deadline_s=0.6))
    assert outcome.kind == "timeout"
    assert 0.55 <= time.monotonic() - started < 0.6 + SLACK_S


def test_a_silent_tls_handshake_ends_at_the_deadline(peer: Any, reach: Any) -> None:
    target = peer(silent)
    started = time.monotonic()
    outcome = failure(reach(target).request("GET", f"https://127.0.0.1:{target.port}/", deadline_s=0.5))
    assert outcome.kind == "timeout"
    assert time.monotonic() - started < 0.5 + SLACK_S


def test_an_upload_nobody_reads_ends_at_the_deadline(reach: Any) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        port = listener.getsockname()[1]
        client = OutboundClient(Guard([f"127.0.0.1:{port}"]), user_agent="t")
        started = time.monotonic()
        outcome = client.request("POST", f"http://127.0.0.1:{port}/", data=b"x" * 30_000_000, deadline_s=0.5)
    assert failure(outcome).kind == "timeout"
    assert time.monotonic() - started < 0.5 + SLACK_S


def test_a_hanging_name_look_up_ends_at_the_deadline() -> None:
    def hanging(host: str, timeout_s: float) -> list[Any]:
        time.sleep(timeout_s)
        raise TimeoutError

    started = time.monotonic()
    client = OutboundClient(Guard(resolver=hanging), user_agent="t")
    assert failure(client.request("GET", "https://slow.test/", deadline_s=0.3)).kind == "dns"
    assert time.monotonic() - started < 0.5 + SLACK_S


@pytest.mark.parametrize(
    "raw",
    [
        answer(b"x" * 2000),
        answer(b"x" * 1001),
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n" + b"x" * 5000,
        lambda: answer(gzip.compress(bytes(50_000_000)), "Content-Encoding: gzip"),
        lambda: answer(zlib.compress(bytes(50_000_000)), "Content-Encoding: deflate"),
        lambda: answer(gzip.compress(gzip.compress(bytes(50_000_000))), "Content-Encoding: gzip, gzip"),
    ],
    ids=["length", "one over", "until close", "false length", "gzip bomb", "deflate bomb", "nested bomb"],
)
def test_the_byte_cap(peer: Any, reach: Any, raw: bytes | Callable[[], bytes]) -> None:
    target = peer(raw if isinstance(raw, bytes) else raw())
    assert failure(reach(target).request("GET", target.url, max_bytes=1000)).kind == "too_large"


def test_a_body_of_exactly_the_cap_passes_and_gzip_is_unpacked(peer: Any, reach: Any) -> None:
    target = peer(answer(gzip.compress(b"y" * 1000), "Content-Encoding: gzip"))
    assert response(reach(target).request("GET", target.url, max_bytes=1000)).body == b"y" * 1000


def test_a_flood_of_raw_bytes_is_cut(peer: Any, reach: Any) -> None:
    """Empty deflate blocks again, at full speed: the cap on raw bytes ends it long before the deadline."""

    def script(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10])
        while True:
            connection.sendall(b"\x00\x00\x00\xff\xff" * 10_000)

    target = peer(script)
    assert failure(reach(target).request("GET", target.url, max_bytes=1000, deadline_s=10)).kind == "too_large"


def reset(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (reset, "reset"),
        (b"", "reset"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "reset"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nx", "reset"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "bad_response"),
        (b"HTTP/1.1 abc\r\n\r\n", "bad_response"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", "bad_response"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", "bad_response"),
        (answer(b"not gzip", "Content-Encoding: gzip"), "bad_response"),
    ],
    ids=["rst", "nothing", "short", "bad chunk", "ssh", "status", "many headers", "long header", "not gzip"],
)
def test_broken_answers(peer: Any, reach: Any, script: Any, kind: str) -> None:
    target = peer(script)
    assert failure(reach(target).request("GET", target.url, deadline_s=3)).kind == kind


def test_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    client = OutboundClient(Guard(["127.0.0.1"]), user_agent="t")
    assert failure(client.request("GET", f"http://127.0.0.1:{port}/")).kind == "connect"


def test_the_second_address_is_tried_when_the_first_refuses(peer: Any) -> None:
    target = peer(OK)
    guard = Guard(["two.test"], resolver=lambda *_: [ip_address("127.0.0.77"), ip_address("127.0.0.1")])
    client = OutboundClient(guard, user_agent="t")
    assert response(client.request("GET", f"http://two.test:{target.port}/")).ok


def test_an_early_answer_to_a_large_upload_is_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def refuse() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(answer(b"too big", status="413 Content Too Large"))

        thread = threading.Thread(target=refuse)
        thread.start()
        client = OutboundClient(Guard([f"127.0.0.1:{port}"]), user_agent="t")
        outcome = client.request("POST", f"http://127.0.0.1:{port}/", data=b"x" * 20_000_000)
        thread.join()
    assert response(outcome).status == 413


def test_head_has_no_body(peer: Any, reach: Any) -> None:
    target = peer(answer(b"too big", status="413 Content Too Large"))
    outcome = reach(target).request("HEAD", target.url)
    assert response(outcome).status == 413
    assert response(outcome).body == b""


@pytest.mark.parametrize(
    "body", [b"<!doctype html>", b"\xff\xfe{}", b"[" * 5000, b"[" * 101 + b"]" * 101, b"{", b"NaN", b"", b"1" * 5000]
)
def test_what_is_not_json_is_a_failure(peer: Any, reach: Any, body: bytes) -> None:
    target = peer(answer(body))
    outcome = reach(target).request("GET", target.url)
    assert failure(outcome.json()).kind == "bad_response"


def test_json_of_an_answer(peer: Any, reach: Any) -> None:
    target = peer(answer(b'\xef\xbb\xbf{"data": [{"id": 7}]}'))
    parsed = reach(target).request("GET", target.url).json()
    assert isinstance(parsed, Json)
    assert at_path(parsed.value, "data.0.id") == 7
    assert at_path(parsed.value, "data.1.id") is None
    assert at_path(parsed.value, "data.x.id") is None


def test_values_print_without_secrets(peer: Any, reach: Any) -> None:
    target = peer(answer(b"canary", "X-Token: canary"))
    outcome = response(reach(target).request("GET", f"{target.url}/?key=canary"))
    assert "canary" not in repr(outcome)


# Redirects


def redirect_to(location: str, status: str = "302 Found") -> bytes:
    return answer(b"", f"Location: {location}", status=status)


def test_redirects_are_answers_unless_asked(peer: Any, reach: Any) -> None:
    target = peer(redirect_to("/elsewhere"))
    assert response(reach(target).request("GET", target.url)).status == 302
    assert target.connections == 1


def test_a_redirect_within_the_origin_keeps_headers_and_turns_post_to_get(peer: Any, reach: Any) -> None:
    def script(connection: socket.socket, request: bytes) -> None:
        connection.sendall(OK if request.startswith(b"GET /next") else redirect_to("next?x=1", "303 See Other"))

    target = peer(script)
    outcome = reach(target).request(
        "POST", f"{target.url}/a", data={"b": "c"}, headers={"Authorization": "Bearer t"}, max_redirects=1
    )
    assert response(outcome).url == f"{target.url}/next?x=1"
    assert b"Authorization: Bearer t" in target.requests[1]
    assert b"content-type" not in target.requests[1].lower()


def test_a_signature_that_no_header_can_hold_is_refused(peer: Any, reach: Any) -> None:
    target = peer(OK)
    sign = SigV4("ключ", "secret", "eu-west-1", "sqs")
    assert "header" in failure(reach(target).request("GET", target.url, sign=sign)).sentence
    assert target.requests == []


def test_nothing_is_signed_that_another_origin_sends_back(peer: Any, reach: Any) -> None:
    def back(connection: socket.socket, _: bytes) -> None:
        connection.sendall(redirect_to(f"{first.url}/delete"))

    second = peer(back)
    first = peer(
        lambda connection, request: connection.sendall(
            redirect_to(f"{second.url}/") if request.startswith(b"GET /a") else OK
        )
    )

    def sign(message: Message) -> Message:
        return replace(message, headers={**message.headers, "Authorization": "signed"})

    assert response(reach(first, second).request("GET", f"{first.url}/a", max_redirects=3, sign=sign)).ok
    assert b"signed" in first.requests[0] and b"signed" not in first.requests[1]


def test_what_a_redirect_leads_to_is_signed_anew_within_the_origin_only(peer: Any, reach: Any) -> None:
    second = peer(OK)

    def script(connection: socket.socket, request: bytes) -> None:
        connection.sendall(redirect_to("/b" if request.startswith(b"GET /a") else f"{second.url}/c"))

    def sign(message: Message) -> Message:
        return replace(message, headers={**message.headers, "Authorization": f"signed {message.url.target}"})

    first = peer(script)
    assert response(reach(first, second).request("GET", f"{first.url}/a", max_redirects=2, sign=sign)).ok
    assert [b"Authorization: signed /a\r\n" in first.requests[0], b"signed /b\r\n" in first.requests[1]] == [True] * 2
    assert b"signed" not in second.requests[0]


def test_another_origin_gets_no_credential(peer: Any, reach: Any) -> None:
    second = peer(OK)
    first = peer(redirect_to(second.url + "/"))
    secrets = {"Authorization": "Bearer t", "X-Api-Key": "k", "Cookie": "c=1", "Accept": "text/plain"}
    assert response(reach(first, second).request("GET", first.url, headers=secrets, max_redirects=3)).ok
    sent = second.requests[0].lower()
    assert b"accept: text/plain" in sent
    for secret in (b"authorization", b"api-key", b"cookie"):
        assert secret not in sent


def test_a_body_is_not_repeated_to_another_origin(peer: Any, reach: Any) -> None:
    second = peer(OK)
    first = peer(redirect_to(second.url + "/", "307 Temporary Redirect"))
    client = reach(first, second)
    outcome = failure(client.request("POST", first.url, data={"client_secret": "s"}, max_redirects=3))
    assert outcome.kind == "redirect_refused"
    assert second.connections == 0


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "//127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://2130706433:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "http://user@127.0.0.1:{port}/",
        "javascript:alert(1)",
        "http://127.0.0.1\\@x:{port}/",
        "http://[::1/",
    ],
)
def test_a_redirect_to_a_private_address_is_refused(peer: Any, reach: Any, location: str) -> None:
    private = peer(OK)
    public = peer(redirect_to(location.replace("{port}", str(private.port))))
    outcome = reach(public).request("GET", public.url, max_redirects=5)
    assert failure(outcome).kind in ("redirect_refused", "refused_by_guard")
    assert private.connections == 0


def test_redirects_keep_to_the_declared_hosts_and_end(peer: Any, reach: Any) -> None:
    second = peer(OK)
    first = peer(redirect_to(second.url))
    rules = HostRules.of(f"127.0.0.1:{first.port}")
    outcome = reach(first, second).request("GET", first.url, max_redirects=3, allowed_hosts=rules)
    assert failure(outcome).kind == "redirect_refused"
    assert second.connections == 0
    loop = peer(redirect_to("/again"))
    assert failure(reach(loop).request("GET", loop.url, max_redirects=4)).kind == "redirect_refused"
    assert loop.connections == 5


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_stream_hands_on_the_redirect_that_is_not_followed(peer: Any, reach: Any, elsewhere: bool) -> None:
    second = peer(OK)
    first = peer(redirect_to(second.url if elsewhere else "/again"))
    rules = HostRules.of(f"127.0.0.1:{first.port}")
    streamed = reach(first, second).stream("GET", first.url, max_redirects=2, allowed_hosts=rules)
    streamed.close()
    assert streamed.status == 302
    assert (first.connections, second.connections) == (1 if elsewhere else 3, 0)


# TLS


@pytest.fixture
def secure_client(authority: Any) -> OutboundClient:
    guard = Guard(["good.test", "other.test"], resolver=lambda *_: [ip_address("127.0.0.1")])
    return OutboundClient(guard, user_agent="t", ca_file=authority.ca_file)


def test_tls_uses_the_name_for_sni_and_certificate(peer: Any, authority: Any, secure_client: Any) -> None:
    context = authority.context("good.test")
    names: list[str | None] = []
    context.sni_callback = lambda _, name, __: names.append(name)
    target = peer(OK, context=context)
    outcome = response(secure_client.request("GET", f"https://good.test:{target.port}/"))
    assert outcome.json() == Json({"a": 1})
    assert names == ["good.test"]
    assert f"Host: good.test:{target.port}".encode() in target.requests[0]


def test_tls_to_an_address_checks_the_address(peer: Any, authority: Any, reach: Any) -> None:
    target = peer(OK, context=authority.context("127.0.0.1"))
    client = reach(target, ca_file=authority.ca_file)
    assert response(client.request("GET", f"https://127.0.0.1:{target.port}/")).ok


@pytest.mark.parametrize(
    ("name", "days", "trusted"),
    [("good.test", -1, True), ("wrong.test", 30, True), ("good.test", 30, False)],
    ids=["expired", "wrong host", "unknown authority"],
)
def test_a_bad_certificate_is_refused_before_a_byte_of_the_request(
    peer: Any, authority: Any, secure_client: Any, name: str, days: int, trusted: bool
) -> None:
    target = peer(OK, context=authority.context(name, days=days, trusted=trusted))
    outcome = secure_client.request("GET", f"https://good.test:{target.port}/", headers={"X-Key": "k"})
    assert failure(outcome).kind == "tls"
    assert target.requests == []


def test_our_own_authority_is_not_trusted_by_default(peer: Any, authority: Any, reach: Any) -> None:
    target = peer(OK, context=authority.context("127.0.0.1"))
    assert failure(reach(target).request("GET", f"https://127.0.0.1:{target.port}/")).kind == "tls"


def test_plain_http_where_tls_was_expected(peer: Any, reach: Any) -> None:
    target = peer(lambda connection, _: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    outcome = reach(target).request("GET", f"https://127.0.0.1:{target.port}/", deadline_s=0.5)
    assert failure(outcome).kind in ("tls", "timeout", "reset")


def test_deadline_over_tls(peer: Any, authority: Any, secure_client: Any) -> None:
    target = peer(drip(OK, 0.1), context=authority.context("good.test"))
    started = time.monotonic()
    outcome = secure_client.request("GET", f"https://good.test:{target.port}/", deadline_s=0.6)
    assert failure(outcome).kind == "timeout"
    assert 0.55 <= time.monotonic() - started < 0.6 + SLACK_S


def test_https_is_not_left_for_http(peer: Any, authority: Any, secure_client: Any) -> None:
    plain = peer(OK)
    location = f"http://good.test:{plain.port}/"
    target = peer(redirect_to(location), context=authority.context("good.test"))
    outcome = secure_client.request("GET", f"https://good.test:{target.port}/", max_redirects=2)
    assert failure(outcome).kind == "redirect_refused"
    assert plain.connections == 0


def test_what_is_cut_off_is_an_answer_all_the_same(peer: Any, reach: Any) -> None:
    server = peer(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000)
    found = reach(server).request("POST", server.url, data=b"{}", max_bytes=100, cut=True)
    assert isinstance(found, Response)
    assert (found.status, found.body) == (200, b"x" * 100)


# The message


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


def test_another_origin_gets_harmless_headers_only() -> None:
    sent = composed_message(headers={"Authorization": "Bearer canary", "X-Key": "canary", "Accept": "text/html"})
    same, other = follow(sent, 302, url("https://a.example/2")), follow(sent, 302, THERE)
    assert isinstance(same, Message) and same.headers == sent.headers
    assert isinstance(other, Message) and other.headers == {"Accept": "text/html"}


def test_a_body_continues_only_where_it_may() -> None:
    sent = composed_message("POST", data=b"x")
    as_get = follow(sent, 303, THERE)
    assert isinstance(as_get, Message) and (as_get.method, as_get.body) == ("GET", None)
    for status, target in ((307, THERE), (302, url("http://a.example/"))):
        refused = follow(sent, status, target)
        assert isinstance(refused, Failure) and refused.kind == "redirect_refused"
