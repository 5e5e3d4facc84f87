"""What is the same for everybody travels compressed, and once."""

import gzip

from flask import Flask, Response

from webapp.kit import compression

TEXT = b"the same for everybody " * 40
GZIP = {"Accept-Encoding": "gzip"}


def asked(headers: dict[str, str], version: str = "v1") -> Response:
    with Flask(__name__).test_request_context(headers=headers):
        return compression.conditional(TEXT, "text/plain", version)


def test_it_is_compressed_for_whoever_takes_it() -> None:
    plain, packed = asked({}), asked(GZIP)
    assert plain.data == gzip.decompress(packed.data) == TEXT and len(packed.data) < len(TEXT)
    assert packed.headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain.headers
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    refused = asked({"Accept-Encoding": "gzip;q=0, br"})
    assert refused.data == TEXT


def test_short_ones_stay_as_they_are() -> None:
    with Flask(__name__).test_request_context(headers=GZIP):
        for min_bytes, packed in ((len(TEXT), True), (len(TEXT) + 1, False)):
            answer = compression.answer(TEXT, "text/plain", min_bytes=min_bytes)
            assert ("Content-Encoding" in answer.headers) is packed


def test_it_is_not_sent_again_while_it_is_the_same() -> None:
    tags = {headers.get("Accept-Encoding"): asked(headers).headers["ETag"] for headers in ({}, GZIP)}
    assert len(set(tags.values())) == 2
    has = {**GZIP, "If-None-Match": tags["gzip"]}
    assert asked(has).status_code == 304
    assert asked(has, version="v2").status_code == 200
