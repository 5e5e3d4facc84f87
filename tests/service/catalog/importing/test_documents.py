"""A document is JSON or YAML of OpenAPI 3.0, 3.1 or Swagger 2.0; anything else is refused with a sentence."""

import pytest

from webapp.errors import Invalid
from webapp.service.catalog.importing import documents
from webapp.service.catalog.importing.documents import read


@pytest.mark.parametrize(
    "content",
    [
        b'{"openapi": "3.0.3", "paths": {}}',
        b'\xef\xbb\xbf{"openapi": "3.1.0"}',
        b"openapi: 3.1.0\npaths: {}\n",
        b"{openapi: 3.0.0, paths: {}}",
        b'{"swagger": "2.0", "paths": {}}',
    ],
)
def test_every_kind_of_document_is_read(content: bytes) -> None:
    assert str(read(content).root["openapi"]).startswith("3.")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b'{"openapi": ', "cannot be read as JSON"),
        (b"a: [", "cannot be read as YAML"),
        (b"<html></html>", "holds no object"),
        (b'{"openapi": "4.0.0"}', "It says openapi: 4.0.0"),
        (b'{"asyncapi": "2.0"}', "neither openapi nor swagger"),
        (b'{"openapi": "3.0.0", "paths": []}', "names no paths"),
    ],
)
def test_what_is_none_is_refused_with_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        read(content)


def test_a_document_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_BYTES", 10)
    with pytest.raises(Invalid, match="20 MiB at most"):
        read(b'{"openapi": "3.0.0"}')


def test_addresses_are_meant_from_where_the_document_stands() -> None:
    document = read(b'{"openapi": "3.0.0", "paths": {}}', "https://docs.acme.example/api/openapi.json")
    assert document.absolute("/v1") == "https://docs.acme.example/v1"
    assert read(b'{"openapi": "3.0.0"}').absolute("/v1") == "/v1"
    assert document.info == {}
