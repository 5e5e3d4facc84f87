"""Signatures over whole requests, against the examples that AWS and RFC 5849 publish."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from urllib.parse import quote

import pytest
from authlib.oauth1.rfc5849 import signature
from authlib.oauth1.rfc5849.wrapper import OAuth1Request

from webapp.service.outbound.failures import Failure
from webapp.service.outbound.request_signing import OAuth1, SigV4, signer
from webapp.service.outbound.transport import Message, Upload
from webapp.service.outbound.urls import Url, parse_url

SUITE = SigV4(
    "AKIDEXAMPLE",
    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "us-east-1",
    "service",
    clock=lambda: datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
)
S3 = SigV4(
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "us-east-1",
    "s3",
    clock=lambda: datetime(2013, 5, 24, tzinfo=UTC),
)


def message(url: str, method: str = "GET", headers: Mapping[str, str] | None = None, body: Any = None) -> Message:
    parsed = parse_url(url)
    assert isinstance(parsed, Url)
    return Message(method, parsed, headers or {}, body)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ],
)
def test_the_suite_of_aws(query: str, expected: str) -> None:
    """get-vanilla and get-vanilla-query-order-key-case of AWS's Signature Version 4 test suite."""
    signed = SUITE(message(f"https://example.amazonaws.com/{query}"))
    assert isinstance(signed, Message)
    assert signed.headers["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={expected}"
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_the_examples_of_s3(query: str, expected: str) -> None:
    """https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html"""
    signed = S3(message(f"https://examplebucket.s3.amazonaws.com/{query}"))
    assert isinstance(signed, Message)
    assert signed.headers["Authorization"].endswith(f"Signature={expected}")
    assert signed.headers["X-Amz-Content-Sha256"].startswith("e3b0c44298fc1c149afb")


def test_what_was_signed_is_what_goes_out() -> None:
    signed = S3(message("https://b.s3.amazonaws.com/a%2Fb c~(1).txt?q=a+b&prefix=x%2Fy".replace(" ", "%20")))
    assert isinstance(signed, Message)
    assert signed.url.target == "/a/b%20c~%281%29.txt?prefix=x%2Fy&q=a%20b"
    elsewhere = SUITE(message("https://x.amazonaws.com/a%2Fb"))
    assert isinstance(elsewhere, Message)
    assert elsewhere.url.target == "/a%2Fb"


def test_every_amz_header_and_the_media_type_are_signed_and_a_signature_of_the_caller_is_not_kept() -> None:
    headers = {"authorization": "mine", "x-amz-acl": "private", "Content-Type": "text/plain", "X-Other": "1"}
    temporary = SigV4("A", "s", "eu-west-1", "s3", "temporary-token")
    signed = temporary(message("https://b.s3.amazonaws.com/k", "PUT", headers, b"hello"))
    assert isinstance(signed, Message)
    assert "mine" not in signed.headers.values()
    names = "content-type;host;x-amz-acl;x-amz-content-sha256;x-amz-date;x-amz-security-token"
    assert f"SignedHeaders={names}," in signed.headers["Authorization"]
    assert signed.headers["X-Amz-Security-Token"] == "temporary-token"
    assert "temporary-token" not in repr(temporary)
    assert "s3cret" not in repr(SigV4("A", "s3cret", "eu-west-1", "s3"))


@pytest.mark.parametrize(
    ("host", "service"),
    [
        ("sts.eu-west-1.amazonaws.com", "sts"),
        ("bucket.s3.eu-west-1.amazonaws.com", "s3"),
        ("abc.execute-api.eu-west-1.amazonaws.com", "execute-api"),
        ("iam.amazonaws.com", "iam"),
        ("email.eu-west-1.amazonaws.com", "ses"),
    ],
)
def test_a_host_of_aws_names_its_service(host: str, service: str) -> None:
    signed = SigV4("A", "s", "eu-west-1")(message(f"https://{host}/"))
    assert isinstance(signed, Message)
    assert f"/eu-west-1/{service}/aws4_request" in signed.headers["Authorization"]


def test_another_body_is_another_signature() -> None:
    first, second = (SUITE(message("https://x.amazonaws.com/", "POST", {}, body)) for body in (b"a", b"b"))
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert first.headers["Authorization"] != second.headers["Authorization"]


def test_a_body_that_can_be_read_only_once_is_not_signed() -> None:
    upload = Upload(BytesIO(b"a"), 1)
    assert isinstance(SUITE(message("https://x.amazonaws.com/", "PUT", {}, upload)), Failure)
    assert isinstance(OAuth1("k", "s")(message("https://x.example/", "PUT", {}, upload)), Message)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert isinstance(OAuth1("k", "s")(message("https://x.example/", "POST", form, upload)), Failure)


def test_oauth_1_signs_address_form_and_tokens() -> None:
    """The provider's side is Authlib's, which reads the parameters out of the whole request (RFC 5849, 3.4)."""
    sign = signer("oauth1", {"consumer_key": "ck", "consumer_secret": "cs", "token": "tk", "token_secret": "ts"})
    form = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8", "Authorization": "mine"}
    signed = sign(message("https://api.example.com/r%20v?b5=%3D%253D&a3=a+b", "POST", form, b"c2=&a3=2+q"))
    assert isinstance(signed, Message)
    assert signed.body == b"c2=&a3=2+q"
    assert signed.headers["Content-Type"] == form["Content-Type"]
    whole = {**signed.headers, "Content-Type": "application/x-www-form-urlencoded"}
    request = OAuth1Request("POST", str(signed.url), body="c2=&a3=2+q", headers=whole)
    assert (request.client_id, request.token) == ("ck", "tk")
    base = signature.generate_signature_base_string(request)
    assert "a3%3D2%2520q" in base
    assert "a3%3Da%2520b" in base
    assert signature.hmac_sha1_signature(base, "cs", "ts") == request.signature


def test_two_signatures_of_oauth_1_differ() -> None:
    sign = OAuth1("ck", "cs")
    first, second = (sign(message("https://api.example.com/")) for _ in range(2))
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert first.headers["Authorization"] != second.headers["Authorization"]


@pytest.mark.parametrize("form", [b"a={b}&c=$", b"a=%7Bb%7D&c=%24"])
def test_a_form_is_signed_by_what_it_means(form: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("authlib.oauth1.rfc5849.client_auth.generate_nonce", lambda: "n")
    monkeypatch.setattr("authlib.oauth1.rfc5849.client_auth.generate_timestamp", lambda: "1")
    media = {"Content-Type": "application/x-www-form-urlencoded"}
    signed = OAuth1("ck", "cs")(message("https://api.example.com/", "POST", media, form))
    assert isinstance(signed, Message)
    plain = OAuth1("ck", "cs")(message("https://api.example.com/", "POST", media, b"c=%24&a=%7Bb%7D"))
    assert isinstance(plain, Message)
    assert signed.headers["Authorization"] == plain.headers["Authorization"]


def test_oauth_1_as_rfc_5849_computes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base string of section 3.4.1 and the HMAC of section 3.4.2, written out."""
    monkeypatch.setattr("authlib.oauth1.rfc5849.client_auth.generate_nonce", lambda: "n")
    monkeypatch.setattr("authlib.oauth1.rfc5849.client_auth.generate_timestamp", lambda: "1")
    media = {"Content-Type": "application/x-www-form-urlencoded"}
    url = "https://api.example.com/1/update.json?include=true"
    signed = OAuth1("ck", "c&s", "tk", "t s")(message(url, "POST", media, b"status=Ladies+%2b%20Gentlemen%2c"))
    assert isinstance(signed, Message)
    parameters = (
        "include%3Dtrue%26oauth_consumer_key%3Dck%26oauth_nonce%3Dn%26oauth_signature_method%3DHMAC-SHA1"
        "%26oauth_timestamp%3D1%26oauth_token%3Dtk%26oauth_version%3D1.0%26status%3DLadies%2520%252B%2520Gentlemen%252C"
    )
    base = f"POST&https%3A%2F%2Fapi.example.com%2F1%2Fupdate.json&{parameters}"
    digest = base64.b64encode(hmac.new(b"c%26s&t%20s", base.encode(), hashlib.sha1).digest()).decode()
    assert f'oauth_signature="{quote(digest, safe="")}"' in signed.headers["Authorization"]
