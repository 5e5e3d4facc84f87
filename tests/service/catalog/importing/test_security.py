"""Keys, passwords and tokens as fields and credentials of an app.

Of all ways to sign in, the one that serves most operations is taken; others may be chosen, or are told why not.

The authorization code flow of a document, and what OpenID discovery says.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openapi_documents import KEY, document, planned
from webapp.errors import Invalid, UpstreamFailed
from webapp.service.catalog.importing import security
from webapp.service.catalog.importing.documents import Document, Refs
from webapp.service.catalog.importing.files import write
from webapp.service.catalog.importing.operations import listed
from webapp.service.catalog.importing.records import Options
from webapp.service.catalog.importing.security import NONE, About, Parts, add_http, add_key, by_hand

DOCS = "https://docs.acme.example"
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
ABOUT = About(DOCS)
DOCUMENT = document({})


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


HEADER = {"type": "apiKey", "in": "header", "name": "Authorization"}
SIGNED = {"hmac": {**HEADER, "x-amazon-apigateway-authtype": "awsSigv4"}}
REGIONAL = {"url": "http://queue.{region}.amazonaws.com", "variables": {"region": {"enum": ["a", "b"], "default": "a"}}}


@pytest.mark.parametrize(
    ("server", "info", "service", "url"),
    [
        (REGIONAL, {}, {}, "https://queue.{region}.amazonaws.com"),
        ({"url": "https://queue.acme.example"}, {"x-aws-signingName": "queue"}, {"service": "queue"}, None),
        (REGIONAL, {"x-aws-signingName": "{secret_access_key}"}, {}, "https://queue.{region}.amazonaws.com"),
    ],
)
def test_requests_are_signed_with_the_keys_of_aws(
    server: dict[str, Any], info: dict[str, str], service: dict[str, str], url: str | None, tmp_path: Path
) -> None:
    parameters = [{"in": "header", "name": name} for name in ("X-Amz-Date", "X-Amz-Signature", "X-Amz-Target")]
    plan = planned(
        {"/queues": {"get": {"parameters": parameters}}},
        info={"title": "Queues", "version": "1", **info}, servers=[server],
        components={"securitySchemes": SIGNED}, security=[{"hmac": []}],
    )  # fmt: skip
    (credential,) = plan.app["credentials"]
    keys = {name: f"{{{name}}}" for name in ("access_key_id", "secret_access_key", "session_token", "region")}
    assert credential == {"place": "sigv4", "parts": {**keys, **service}, "source": plan.app["docs_url"]}
    fields = [each["name"] for each in plan.app["fields"]]
    assert sorted(fields) == sorted(keys) and plan.app["base_url"] == (url or "https://queue.acme.example")
    (action,) = [each for each in plan.actions if each.operation.path == "/queues"]
    assert [name for name in action.toml["props"] if name != "account"] == ["X_Amz_Target"]
    assert write(plan, tmp_path, None, "aws.json", 5).added  # which an app with such a credential may be


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


def names(options: Options) -> list[str]:
    plan = planned(PATHS, options, schemes=SCHEMES, security=[{"oauth": []}])
    return [action.name for action in plan.actions]


def test_the_way_that_serves_most_is_taken_and_the_rest_is_reported() -> None:
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
def test_a_way_that_is_none_is_reported(auth: str, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        names(Options(auth=auth))


def test_where_no_way_can_be_said_the_import_ends() -> None:
    with pytest.raises(Invalid, match=r"No way to sign in can be imported\. tls: tls is mutualTLS"):
        planned({}, schemes={"tls": {"type": "mutualTLS"}}, security=[{"tls": []}])
    with pytest.raises(Invalid, match="the document does not describe other"):
        planned({}, security=[{"other": []}])


def test_two_flows_of_one_sign_in_are_one() -> None:
    implicit = {"implicit": {"authorizationUrl": FLOW["authorizationUrl"], "scopes": {"read": "Read"}}}
    schemes = {
        "Oauth2": {"type": "oauth2", "flows": implicit},
        "Oauth2c": {"type": "oauth2", "flows": {"authorizationCode": FLOW}},
    }
    both = [{"Oauth2": ["read"], "Oauth2c": ["read"]}]
    plan = planned({}, schemes=schemes, security=both)
    assert (plan.app["auth_type"], plan.options.auth) == ("oauth", "Oauth2 + Oauth2c")
    assert plan.app["oauth"]["authorize_url"] == FLOW["authorizationUrl"]

    implicit["implicit"]["authorizationUrl"] = "https://other.example/authorize"
    refused = r"it needs two sign-ins at once\. Choose what the API takes instead: bearer, basic, header:NAME, "
    with pytest.raises(Invalid, match=refused):
        planned({}, schemes=schemes, security=both)


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


def flow(**more: Any) -> dict[str, Any]:
    facts = {"authorizationUrl": "/authorize", "tokenUrl": "https://acme.example/token", "scopes": {}, **more}
    return {"type": "oauth2", "flows": {"authorizationCode": facts}}


def test_addresses_and_scopes_are_taken() -> None:
    scopes = {"read:pets": "Grants access to pets", "w": "", "Mail.Send": "Send mail. Any mail."}
    facts = security.facts(DOCUMENT, flow(scopes=scopes), ABOUT)
    assert facts is not None
    assert (facts["authorize_url"], facts["token_url"]) == (
        "https://docs.acme.example/authorize",
        "https://acme.example/token",
    )
    assert facts["scopes"] == [
        {"scope": "read:pets", "words": "use pets"},
        {"scope": "w", "words": "use w"},
        {"scope": "Mail.Send", "words": "send mail. Any mail"},
    ]


def test_only_scopes_that_actions_name_are_asked_for_by_default() -> None:
    scheme = flow(scopes={"read": "Read", "write": "Write"})
    plan = planned({}, schemes={"oauth": scheme}, security=[{"oauth": ["read"]}])
    assert [(scope["scope"], scope.get("default", True)) for scope in plan.app["oauth"]["scopes"]] == [
        ("read", True), ("write", False),
    ]  # fmt: skip


def test_other_flows_are_none_of_ours_and_bad_addresses_are_reported() -> None:
    assert security.facts(DOCUMENT, {"type": "oauth2", "flows": {"password": {}}}, ABOUT) is None
    with pytest.raises(ValueError, match="not whole"):
        security.facts(DOCUMENT, flow(tokenUrl="https://{host}/token"), ABOUT)


def discovered(answer: bytes) -> dict[str, Any] | None:
    scheme = {"type": "openIdConnect", "openIdConnectUrl": "https://acme.example/.well-known/openid-configuration"}
    return security.facts(DOCUMENT, scheme, About(DOCS, fetch=lambda url: answer))


def test_openid_discovery_is_asked() -> None:
    facts = discovered(
        b'{"authorization_endpoint": "https://acme.example/a", "token_endpoint": "https://acme.example/t",'
        b' "scopes_supported": ["openid", "x"], "token_endpoint_auth_methods_supported": ["client_secret_post"]}'
    )
    assert facts is not None
    assert (facts["token_url"], facts["token_auth_method"]) == ("https://acme.example/t", "client_secret_post")
    assert facts["scopes"][0] == {"scope": "openid", "words": "know who you are"}


@pytest.mark.parametrize("answer", [b"[]", b"<html>", b"{}"])
def test_metadata_that_says_nothing_is_reported(answer: bytes) -> None:
    with pytest.raises(ValueError, match="its OpenID Connect metadata"):
        discovered(answer)


def test_metadata_that_cannot_be_read_is_reported() -> None:
    def fail(_: str) -> bytes:
        raise UpstreamFailed("Nobody answers there.")

    scheme = {"type": "openIdConnect", "openIdConnectUrl": "https://acme.example/x"}
    with pytest.raises(ValueError, match="cannot be read: Nobody answers there"):
        security.facts(DOCUMENT, scheme, About(DOCS, fetch=fail))
    with pytest.raises(ValueError, match="not whole"):
        security.facts(DOCUMENT, scheme, ABOUT)


def test_a_clients_own_credentials_are_exchanged() -> None:
    scheme = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/oauth/token"}}}
    plan = planned({}, schemes={"oauth": scheme}, security=[{"oauth": []}])
    assert [field["name"] for field in plan.app["fields"]] == ["client_id", "client_secret"]
    assert plan.app["session"]["url"] == "https://api.acme.example/oauth/token"
    assert plan.app["credentials"][0]["value"] == "{session_token}"
    assert security.session(DOCUMENT, {"flows": {"implicit": {}}}, ABOUT) is None


def test_no_credential_is_put_into_the_address_that_a_document_names() -> None:
    flows = {"clientCredentials": {"tokenUrl": "https://{client_secret}.evil.example/token"}}
    assert security.session(DOCUMENT, {"flows": flows}, ABOUT) is None


@pytest.mark.parametrize(
    "scheme",
    [flow(), {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://acme.example/token"}}}],
)
def test_another_host_that_gets_a_clients_secret_is_reported(scheme: dict[str, Any]) -> None:
    plan = planned({}, schemes={"oauth": scheme}, security=[{"oauth": []}])
    assert "The client's id and secret go to acme.example, which gives a token for them." in plan.notes
