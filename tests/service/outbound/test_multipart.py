"""Bodies of forms with files, read back by the standard library."""

from email.parser import BytesParser
from email.policy import HTTP

from webapp.service.outbound.multipart import encode


def test_fields_and_files() -> None:
    body, media_type = encode([("title", None, "Grüße".encode()), ("file", 'a "b".txt', b"\x00\r\n--x")])
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {media_type}\r\n\r\n".encode() + body)
    parts = list(message.iter_parts())
    assert [part.get_param("name", header="content-disposition") for part in parts] == ["title", "file"]
    assert parts[0].get_payload(decode=True) == "Grüße".encode()
    assert parts[1].get_payload(decode=True) == b"\x00\r\n--x"
    assert parts[0].get_filename() is None
