"""JSON is read strictly, XML in the form of JSON, and members are found by paths.

Bodies of forms with files are read back by the standard library.
"""

from email.parser import BytesParser
from email.policy import HTTP

import pytest

from webapp.service.outbound.bodies import Json, at_path, encode_multipart, parse_json, parse_xml
from webapp.service.outbound.failures import Failure

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


def test_fields_and_files() -> None:
    body, media_type = encode_multipart([("title", None, "Grüße".encode()), ("file", 'a "b".txt', b"\x00\r\n--x")])
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {media_type}\r\n\r\n".encode() + body)
    parts = list(message.iter_parts())
    assert [part.get_param("name", header="content-disposition") for part in parts] == ["title", "file"]
    assert parts[0].get_payload(decode=True) == "Grüße".encode()
    assert parts[1].get_payload(decode=True) == b"\x00\r\n--x"
    assert parts[0].get_filename() is None
