"""Of all ways to sign in, the one that serves most operations is taken; others may be chosen, or are told why not."""

from typing import Any

import pytest

from tests.fakes.openapi_documents import KEY, document, planned
from webapp.errors import Invalid
from webapp.service.catalog.importing import security
from webapp.service.catalog.importing.documents import Document
from webapp.service.catalog.importing.operations import listed
from webapp.service.catalog.importing.refs import Refs
from webapp.service.catalog.importing.standing import Options

FLOW = {
    "authorizationUrl": "https://acme.example/authorize",
    "tokenUrl": "/token",
    "scopes": {"read": "Read", "write": "Write"},
}
SCHEMES: dict[str, Any] = {
    **KEY,
    "secret": {"type": "apiKey", "in": "header", "name": "X-Secret"},
    "oauth": {"type": "oauth2", "flows": {"authorizationCode": FLOW}},
    "machine": {"type": "oauth2", "flows": {"implicit": {"scopes": {}}}},
    "tls": {"type": "mutualTLS"},
}
PATHS: dict[str, Any] = {
    "/a": {"get": {"operationId": "a", "security": [{"oauth": ["read"]}, {"key": [], "secret": []}]}},
    "/b": {"get": {"operationId": "b", "security": [{"oauth": ["write"]}]}},
    "/c": {"get": {"operationId": "c", "security": [{"tls": []}]}},
    "/d": {"get": {"operationId": "d", "security": [{"machine": []}]}},
    "/open": {"get": {"operationId": "open", "security": []}},
}


def names(options: Options) -> list[str]:
    plan = planned(PATHS, options, schemes=SCHEMES, security=[{"oauth": []}])
    return [action.name for action in plan.actions]


def test_the_way_that_serves_most_is_taken_and_the_rest_is_told() -> None:
    plan = planned(PATHS, schemes=SCHEMES, security=[{"oauth": []}])
    assert (plan.options.auth, plan.app["auth_type"]) == ("oauth", "oauth")
    assert [action.name for action in plan.actions] == ["get-me", "a", "b", "open"]
    assert {each.operation: each.reason for each in plan.left} == {
        "GET /c": "it needs another way to sign in, tls",
        "GET /d": "it needs another way to sign in, machine",
    }
    assert plan.notes == ["tls cannot be imported: tls is mutualTLS, which accounts cannot have."]
    assert [" + ".join(way.names) for way in plan.sign_ins] == ["oauth", "key + secret", "machine"]


@pytest.mark.parametrize(
    ("auth", "actions"),
    [
        ("secret + key", ["a", "open"]),
        ("machine", ["d", "open"]),
        ("none", ["open"]),
        ("bearer", ["get-me", "a", "b", "c", "d", "open"]),
    ],
)
def test_another_way_may_be_chosen(auth: str, actions: list[str]) -> None:
    assert names(Options(auth=auth, test="/a")) == actions


@pytest.mark.parametrize(
    ("auth", "told"),
    [("tls", "cannot be imported: tls is mutualTLS"), ("no", "There is no way to sign in called 'no'")],
)
def test_a_way_that_is_none_is_told(auth: str, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        names(Options(auth=auth))


def test_where_no_way_can_be_said_the_import_ends() -> None:
    with pytest.raises(Invalid, match=r"No way to sign in can be imported\. tls: tls is mutualTLS"):
        planned({}, schemes={"tls": {"type": "mutualTLS"}}, security=[{"tls": []}])
    with pytest.raises(Invalid, match="the document does not describe other"):
        planned({}, security=[{"other": []}])


def test_schemes_that_nothing_names_may_be_used_by_all_and_none_at_all_means_none() -> None:
    assert planned({}).app["auth_type"] == "keys"
    assert planned({}, schemes={}).app["auth_type"] == "none"
    bare = document({}, schemes={})
    assert security.needed(bare, listed(bare)[0]) == [()]


def test_a_token_that_no_flow_gives_is_entered_by_hand() -> None:
    plan = planned(PATHS, Options(auth="machine", test="/d"), schemes=SCHEMES)
    assert plan.app["fields"] == [{"name": "access_token", "label": "Access token", "secret": True}]
    assert plan.notes[0] == "An access token, which is entered by hand and not renewed."


def test_of_countless_schemes_only_some_are_looked_at() -> None:
    schemes = {f"k{number}": {"type": "http", "scheme": "bearer"} for number in range(200)}
    root = {**document({"/a": {"get": {}}}).root, "components": {"securitySchemes": schemes}}
    bare = Document({name: value for name, value in root.items() if name != "security"}, Refs(root))
    assert len(security.needed(bare, listed(bare)[0])) == 50
