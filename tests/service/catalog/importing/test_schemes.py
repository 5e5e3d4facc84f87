"""Keys, passwords and tokens as fields and credentials of an app."""

from typing import Any

import pytest

from webapp.service.catalog.importing.schemes import NONE, Parts, add_http, add_key, by_hand

DOCS = "https://docs.acme.example"


@pytest.mark.parametrize(
    ("scheme", "credential"),
    [
        ({"scheme": "bearer"}, {"place": "bearer", "value": "{token}"}),
        ({"scheme": "Token"}, {"place": "header", "name": "Authorization", "value": "Token {token}"}),
        ({"scheme": "Basic"}, {"place": "basic", "username": "{username}", "password": "{password}"}),
    ],
)
def test_http(scheme: dict[str, Any], credential: dict[str, Any]) -> None:
    parts = Parts()
    add_http(parts, "it", scheme, "About it.", DOCS, alone=True)
    assert parts.credentials == [{**credential, "source": DOCS}]
    assert parts.fields[0]["description"] == "About it."


@pytest.mark.parametrize(
    ("place", "credential"),
    [
        ("header", {"place": "header", "name": "X-Key", "value": "{api_key}"}),
        ("query", {"place": "query", "name": "X-Key", "value": "{api_key}"}),
        ("cookie", {"place": "header", "name": "Cookie", "value": "X-Key={api_key}"}),
    ],
)
def test_keys(place: str, credential: dict[str, Any]) -> None:
    parts = Parts()
    add_key(parts, "it", {"in": place, "name": "X-Key"}, "", DOCS, alone=True)
    assert parts.credentials == [{**credential, "source": DOCS}]
    assert parts.fields == [{"name": "api_key", "label": "API key", "secret": True}]


def test_keys_that_are_used_together_have_names_of_their_own() -> None:
    parts = Parts()
    for name in ("appId", "appKey"):
        add_key(parts, name, {"in": "header", "name": name}, "", DOCS, alone=False)
    assert [field["name"] for field in parts.fields] == ["app_id", "app_key"]


def test_what_accounts_cannot_have_says_so() -> None:
    with pytest.raises(ValueError, match="HTTP digest"):
        add_http(Parts(), "it", {"scheme": "digest"}, "", DOCS, alone=True)
    with pytest.raises(ValueError, match="where its key is sent"):
        add_key(Parts(), "it", {"in": "body"}, "", DOCS, alone=True)


@pytest.mark.parametrize(("wanted", "place"), [("bearer", "bearer"), ("basic", "basic"), ("query:k", "query")])
def test_a_way_that_the_document_does_not_describe(wanted: str, place: str) -> None:
    way = by_hand(wanted, DOCS)
    assert way is not None
    assert (way.credentials[0]["place"], way.serves([("other",)])) == (place, True)
    assert by_hand("header:", DOCS) is by_hand("other", DOCS) is None
    assert (NONE.serves([()]), NONE.serves([("key",)])) == (True, False)


@pytest.mark.parametrize(
    ("place", "name"), [("header", "Host"), ("header", "X\r\nY"), ("cookie", "a; b={token}; c"), ("header", "{token}")]
)
def test_a_key_has_a_name_that_a_request_can_have(place: str, name: str) -> None:
    with pytest.raises(ValueError, match="that no request can have"):
        add_key(Parts(), "it", {"in": place, "name": name}, "", DOCS, alone=True)


@pytest.mark.parametrize("scheme", ["X\r\nEvil: 1", "X{token}"])
def test_a_scheme_is_one_of_http(scheme: str) -> None:
    with pytest.raises(ValueError, match="of no scheme"):
        add_http(Parts(), "it", {"scheme": scheme}, "", DOCS, alone=True)
