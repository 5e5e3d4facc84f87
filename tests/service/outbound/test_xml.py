"""XML read as JSON has it; what could be expanded or is none is refused."""

import pytest

from webapp.service.outbound.outcomes import Failure, Json
from webapp.service.outbound.xml import parse_xml

BUCKETS = b"""<?xml version="1.0" encoding="UTF-8"?>
<ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Owner><ID>75aa</ID></Owner><Buckets><Bucket><Name>one</Name></Bucket>%s</Buckets><Prefix/>
</ListAllMyBucketsResult>"""
BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>'


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
