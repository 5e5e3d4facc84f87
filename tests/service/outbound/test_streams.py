"""An answer handed on while it arrives: encoded as it came, masked on demand, closed after its last byte."""

import io
from typing import Any

import pytest

from webapp.kit.clock import Deadline
from webapp.service.outbound.client import compose
from webapp.service.outbound.guard import Guard
from webapp.service.outbound.streams import BLOCK, Broken, Stream, Upload
from webapp.service.outbound.transport import Transport, tls_context
from webapp.service.outbound.urls import Url, parse_url

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Next: /?key=canary\r\n\r\n"


def begin(peer: Any, url: str = "/") -> Stream:
    transport = Transport(Guard([f"127.0.0.1:{peer.port}"]), "Patchbay-Test", tls_context(None))
    parsed = parse_url(f"{peer.url}{url}")
    assert isinstance(parsed, Url)
    message = compose("GET", parsed, {}, None, None, None)
    stream = transport.begin(message, Deadline(5))  # type: ignore[arg-type]
    assert isinstance(stream, Stream)
    return stream


def test_a_body_comes_in_blocks_and_closes_the_connection(peer: Any) -> None:
    body = b"x" * (3 * BLOCK)
    stream = begin(peer(HEAD % len(body) + body))
    blocks = list(stream.blocks())
    assert b"".join(blocks) == body
    assert max(map(len, blocks)) <= BLOCK
    assert stream._sock.fileno() == -1


def test_a_body_that_breaks_off_is_told_in_one_sentence(peer: Any) -> None:
    stream = begin(peer(HEAD % 100 + b"only this"))
    with pytest.raises(Broken, match=r"^127\.0\.0\.1 broke the connection off\. Try again later\.$"):
        list(stream.blocks())


def test_the_address_and_every_header_can_be_masked(peer: Any) -> None:
    stream = begin(peer(HEAD % 0), "/me?key=canary")
    stream.hide(lambda text: text.replace("canary", "***"), iter)
    assert stream.url.endswith("/me?key=***")
    assert stream.headers["X-Next"] == "/?key=***"
    stream.close()
    stream.close()


def test_an_upload_never_prints_what_it_holds() -> None:
    upload = Upload(io.BytesIO(b"canary"), 6)
    assert (upload.length, upload.source.read()) == (6, b"canary")
    assert "BytesIO" not in repr(upload)
