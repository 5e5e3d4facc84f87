"""JSON is read strictly, a member is found by its path, and an answer prints without what may be secret.
Every way a connection fails becomes a Failure of its kind, with one sentence that names the host. Of text from
elsewhere: what is kept, what is dropped, what is cut.

XML read as JSON has it; what could be expanded or is none is refused.
"""

import ssl
from http.client import HTTPException, RemoteDisconnected

import pytest
from urllib3.exceptions import DecodeError, ProtocolError

from webapp.service.outbound.outcomes import (
    BudgetExceeded,
    Failure,
    Json,
    Response,
    at_path,
    connect_failure,
    exchange_failure,
    parse_json,
    parse_xml,
    too_large,
)

BUCKETS = b"""<?xml version="1.0" encoding="UTF-8"?>
<ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Owner><ID>75aa</ID></Owner><Buckets><Bucket><Name>one</Name></Bucket>%s</Buckets><Prefix/>
</ListAllMyBucketsResult>"""
BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'


@pytest.mark.parametrize("body", [b"", b"{", b"NaN", b"\xff", b" <html>", b"[" * 101 + b"]" * 101, b"[" * 100_000])
def test_what_is_no_json_is_a_failure_with_a_sentence(body: bytes) -> None:
    parsed = parse_json(body)
    assert isinstance(parsed, Failure) and parsed.kind == "bad_response" and parsed.sentence.endswith(".")


def test_a_hundred_levels_and_a_byte_order_mark_are_read() -> None:
    assert isinstance(parse_json(b"[" * 99 + b"]" * 99), Json)
    assert parse_json(b'\xef\xbb\xbf{"a": null}') == Json({"a": None})


@pytest.mark.parametrize(
    ("path", "found"),
    [("", {"a": [{"b": 1}]}), ("a.0.b", 1), ("a.1", None), ("a.-1", None), ("a.b", None), ("x.y", None)],
)
def test_a_path_leads_to_a_member_or_to_none(path: str, found: object) -> None:
    assert at_path({"a": [{"b": 1}]}, path) == found


def test_a_member_whose_name_is_the_whole_path_comes_first() -> None:
    assert at_path({"@odata.nextLink": "a", "@odata": {"nextLink": "b"}}, "@odata.nextLink") == "a"
    assert at_path({"@odata": {"nextLink": "b"}}, "@odata.nextLink") == "b"


def test_an_answer_prints_without_its_secrets() -> None:
    answer = Response(200, {"Set-Cookie": "canary"}, b"canary", "https://example.com/?key=canary")
    assert answer.ok and "canary" not in repr(answer)


@pytest.mark.parametrize(("text", "seconds"), [("7", 7), ("999999", 86_400), ("Wed, 21 Oct 2026", None), ("", None)])
def test_retry_after(text: str, seconds: int | None) -> None:
    assert Response(200, {"retry-after": text}, b"", "https://example.com/").retry_after_s == seconds


HOST = "api.example"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ssl.SSLError("no"), "tls"),
        (ConnectionResetError(), "reset"),
        (ConnectionRefusedError(), "connect"),
        (OSError("no address to connect to"), "connect"),
    ],
)
def test_a_connection_that_did_not_come_about(error: OSError, kind: str) -> None:
    failure = connect_failure(error, HOST)
    assert failure.kind == kind
    assert HOST in failure.sentence and failure.sentence.endswith(".")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ProtocolError("broken", TimeoutError()), "timeout"),
        (BudgetExceeded(), "too_large"),
        (DecodeError("not gzip"), "bad_response"),
        (RemoteDisconnected("gone"), "reset"),
        (ProtocolError("broken", ConnectionResetError()), "reset"),
        (BrokenPipeError(), "reset"),
        (HTTPException("not HTTP"), "bad_response"),
    ],
)
def test_an_exchange_that_broke_off(error: Exception, kind: str) -> None:
    failure = exchange_failure(error, HOST, 1000)
    assert failure.kind == kind
    assert HOST in failure.sentence and failure.sentence.endswith(".")


def test_the_reason_of_a_refused_certificate_is_said_once() -> None:
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_message = "certificate has expired."
    failure = connect_failure(error, HOST)
    assert failure.kind == "tls"
    assert "was refused: certificate has expired. Its operator" in failure.sentence


def test_too_large_names_the_limit() -> None:
    assert "1,048,576 bytes" in too_large(HOST, 1024 * 1024).sentence


def test_elements_become_members() -> None:
    several = parse_xml(BUCKETS % b"<Bucket><Name>two</Name></Bucket><Bucket><Name>three</Name></Bucket>")
    assert isinstance(several, Json)
    assert several.value["Owner"] == {"ID": "75aa"}
    assert [bucket["Name"] for bucket in several.value["Buckets"]["Bucket"]] == ["one", "two", "three"]
    assert several.value["Prefix"] == ""


def test_what_is_a_list_is_one_even_of_one() -> None:
    single = parse_xml(BUCKETS % b"", ["Bucket"])
    assert isinstance(single, Json)
    assert single.value["Buckets"]["Bucket"] == [{"Name": "one"}]


@pytest.mark.parametrize(
    "body",
    [
        BOMB,
        BOMB.decode().encode("utf-16"),
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        b"<a>",
        b"",
        b"{}",
        b'<?xml version="1.0" encoding="no-such"?><a/>',
        b"<a>&b;</a>",
        b"<a>" * 101 + b"</a>" * 101,
        b"<a>" * 100_000,
    ],
    ids=["bomb", "bomb in UTF-16", "file", "open", "empty", "json", "encoding", "entity", "deep", "deeper"],
)
def test_what_is_none_is_refused(body: bytes) -> None:
    assert isinstance(parse_xml(body), Failure)
