"""References are followed within the document, in circles to an end, and never out of it.

A document is JSON or YAML of OpenAPI 3.0, 3.1 or Swagger 2.0; anything else is refused with a sentence.

Swagger 2.0 is brought to the form of OpenAPI 3: addresses, parameters, bodies, answers and ways to sign in.

YAML is read as data of YAML 1.2, within bounds; what would fill the memory is refused at once.
"""

import time

import pytest

from webapp.errors import Invalid
from webapp.service.catalog.importing import documents
from webapp.service.catalog.importing.documents import MOST_STEPS, Refs, Unresolved, YamlMistake, converted, load, read

REFS = Refs({"a": {"b/c": {"x": 1}, "~": [10, 20]}, "loop": {"$ref": "#/loop"}, "hop": {"$ref": "#/a/b~1c"}})
OLD = {
    "swagger": "2.0",
    "info": {"title": "Shop"},
    "host": "shop.example",
    "basePath": "/v2/",
    "schemes": ["http", "https"],
    "consumes": ["application/json"],
    "produces": ["application/json"],
    "parameters": {"page": {"name": "page", "in": "query", "type": "integer"}},
    "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}},
    "securityDefinitions": {
        "basic": {"type": "basic"},
        "key": {"type": "apiKey", "in": "query", "name": "k"},
        "oauth": {
            "type": "oauth2",
            "flow": "accessCode",
            "authorizationUrl": "https://shop.example/a",
            "tokenUrl": "https://shop.example/t",
            "scopes": {"read": "Read"},
        },
    },
    "paths": {
        "/pets": {
            "parameters": [{"$ref": "#/parameters/page"}],
            "get": {
                "parameters": [
                    {
                        "name": "ids",
                        "in": "query",
                        "type": "array",
                        "items": {"type": "string"},
                        "collectionFormat": "pipes",
                    }
                ],
                "responses": {"200": {"schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}},
            },
            "post": {
                "parameters": [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}]
            },
        },
        "/photos": {
            "post": {
                "parameters": [
                    {"name": "photo", "in": "formData", "type": "file", "required": True},
                    {"name": "tags", "in": "formData", "type": "array", "items": {"type": "string"}},
                ]
            },
            "put": {"parameters": [{"name": "title", "in": "formData", "type": "string"}]},
        },
    },
}
LAUGHS = "\n".join(
    ["a0: &a0 [lol, lol]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
).encode()


def test_a_pointer_is_followed_and_what_stands_beside_it_counts() -> None:
    assert REFS.follow({"$ref": "#/hop", "description": "Mine"}) == {"x": 1, "description": "Mine"}
    assert REFS.follow({"$ref": "#/a/~0/1"}) == 20
    assert REFS.follow("text") == "text"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [("#/loop", "back to itself"), ("#/a/none", "does not exist"), ("https://x.example/s.json#/a", "another document")],
)
def test_what_leads_nowhere_says_so(reference: str, reason: str) -> None:
    with pytest.raises(Unresolved, match=reason):
        REFS.follow({"$ref": reference})
    assert REFS.object({"$ref": reference}) == {}


def test_a_place_in_a_list_that_is_no_number_leads_nowhere() -> None:
    with pytest.raises(Unresolved, match="does not exist"):
        REFS.follow({"$ref": "#/a/~0/" + "1" * 5000})


def test_looking_at_a_document_ends() -> None:
    refs = Refs({})
    with pytest.raises(Invalid, match="refers to itself so often"):
        refs.count(MOST_STEPS + 1)


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
    monkeypatch.setattr(documents, "API_DOCUMENT", 10)
    with pytest.raises(Invalid, match="20 MiB at most"):
        read(b'{"openapi": "3.0.0"}')


def test_addresses_are_meant_from_where_the_document_stands() -> None:
    document = read(b'{"openapi": "3.0.0", "paths": {}}', "https://docs.acme.example/api/openapi.json")
    assert document.absolute("/v1") == "https://docs.acme.example/v1"
    assert read(b'{"openapi": "3.0.0"}').absolute("/v1") == "/v1"
    assert document.info == {}


def test_addresses_are_whole_and_encrypted_ones_come_first() -> None:
    assert converted(OLD)["servers"] == [{"url": "https://shop.example/v2"}, {"url": "http://shop.example/v2"}]
    assert converted({"swagger": "2.0", "basePath": "/v2"})["servers"] == [{"url": "/v2"}]


def test_parameters_of_the_path_and_their_styles_are_the_operations_own() -> None:
    page, ids = converted(OLD)["paths"]["/pets"]["get"]["parameters"]
    assert page == {"name": "page", "in": "query", "schema": {"type": "integer"}}
    assert (ids["style"], ids["explode"], ids["schema"]["items"]) == ("pipeDelimited", False, {"type": "string"})


def test_bodies_and_forms_are_request_bodies() -> None:
    paths = converted(OLD)["paths"]
    body = paths["/pets"]["post"]["requestBody"]
    assert body == {"required": True, "content": {"application/json": {"schema": {"$ref": "#/definitions/Pet"}}}}
    form = paths["/photos"]["post"]["requestBody"]["content"]["multipart/form-data"]
    assert form["schema"]["properties"]["photo"] == {"type": "string", "format": "binary", "description": ""}
    assert (form["schema"]["required"], form["encoding"]) == (["photo"], {"tags": {"explode": False}})
    assert list(paths["/photos"]["put"]["requestBody"]["content"]) == ["application/x-www-form-urlencoded"]


def test_answers_and_ways_to_sign_in_have_their_newer_form() -> None:
    new = converted(OLD)
    assert list(new["paths"]["/pets"]["get"]["responses"]["200"]["content"]) == ["application/json"]
    schemes = new["components"]["securitySchemes"]
    assert schemes["basic"] == {"type": "http", "scheme": "basic"}
    assert schemes["key"] == {"type": "apiKey", "in": "query", "name": "k"}
    assert schemes["oauth"]["flows"]["authorizationCode"]["tokenUrl"] == "https://shop.example/t"


def test_plain_words_are_what_yaml_1_2_says_and_nothing_else() -> None:
    text = b"a: no\nb: on\nc: 12:30\nd: 2026-11-22\ne: true\nf: 0x1F\ng: 1.5e3\nh: ~\ni: '1'\n200: ok\n"
    assert load(text) == {
        "a": "no", "b": "on", "c": "12:30", "d": "2026-11-22", "e": True, "f": 31, "g": 1500.0, "h": None, "i": "1",
        "200": "ok",
    }  # fmt: skip


def test_aliases_and_merged_keys_are_followed() -> None:
    assert load(b"base: &b {x: 1, y: 2}\none: *b\ntwo: {<<: *b, y: 3}\n") == {
        "base": {"x": 1, "y": 2},
        "one": {"x": 1, "y": 2},
        "two": {"x": 1, "y": 3},
    }


def test_an_alias_that_repeats_too_much_is_refused_in_a_moment() -> None:
    began = time.monotonic()
    with pytest.raises(YamlMistake, match="would not fit into memory"):
        load(LAUGHS)
    assert time.monotonic() - began < 0.2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"a: &a [*a]", "leads to what holds it"),
        (b"a: *b", "undefined alias|leads nowhere"),
        (b"a: 1\n---\nb: 2", "several documents"),
        (b"[" * 300 + b"]" * 300, "nested too deeply"),
        (b"? [a, b]\n: 1", "the name of a member is a list"),
        (b"a: [1", "on line"),
        (b"a: \x00", "may not stand there|allowed"),
    ],
)
def test_what_cannot_be_read_is_reported_in_a_sentence(text: bytes, sentence: str) -> None:
    with pytest.raises(YamlMistake, match=sentence):
        load(text)


def test_a_tag_makes_no_object() -> None:
    assert load(b"a: !!python/object/apply:os.system [ls]") == {"a": ["ls"]}


def test_reading_ends_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_SECONDS", -1.0)
    with pytest.raises(YamlMistake, match="takes too long"):
        load(b"a: [1]")
