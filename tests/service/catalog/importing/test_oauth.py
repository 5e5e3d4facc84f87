"""The authorization code flow of a document, and what OpenID discovery says."""

from typing import Any

import pytest

from tests.fakes.openapi_documents import document, planned
from webapp.errors import UpstreamFailed
from webapp.service.catalog.importing import oauth
from webapp.service.catalog.importing.schemes import About

DOCS = "https://docs.acme.example"
ABOUT = About(DOCS)
DOCUMENT = document({})


def flow(**more: Any) -> dict[str, Any]:
    facts = {"authorizationUrl": "/authorize", "tokenUrl": "https://acme.example/token", "scopes": {}, **more}
    return {"type": "oauth2", "flows": {"authorizationCode": facts}}


def test_addresses_and_scopes_are_taken() -> None:
    scopes = {"read:pets": "Grants access to pets", "w": "", "Mail.Send": "Send mail. Any mail."}
    facts = oauth.facts(DOCUMENT, flow(scopes=scopes), ABOUT)
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


def test_other_flows_are_none_of_ours_and_bad_addresses_are_told() -> None:
    assert oauth.facts(DOCUMENT, {"type": "oauth2", "flows": {"password": {}}}, ABOUT) is None
    with pytest.raises(ValueError, match="not whole"):
        oauth.facts(DOCUMENT, flow(tokenUrl="https://{host}/token"), ABOUT)


def discovered(answer: bytes) -> dict[str, Any] | None:
    scheme = {"type": "openIdConnect", "openIdConnectUrl": "https://acme.example/.well-known/openid-configuration"}
    return oauth.facts(DOCUMENT, scheme, About(DOCS, fetch=lambda url: answer))


def test_openid_discovery_is_asked() -> None:
    facts = discovered(
        b'{"authorization_endpoint": "https://acme.example/a", "token_endpoint": "https://acme.example/t",'
        b' "scopes_supported": ["openid", "x"], "token_endpoint_auth_methods_supported": ["client_secret_post"]}'
    )
    assert facts is not None
    assert (facts["token_url"], facts["token_auth_method"]) == ("https://acme.example/t", "client_secret_post")
    assert facts["scopes"][0] == {"scope": "openid", "words": "know who you are"}


@pytest.mark.parametrize("answer", [b"[]", b"<html>", b"{}"])
def test_metadata_that_says_nothing_is_told(answer: bytes) -> None:
    with pytest.raises(ValueError, match="its OpenID Connect metadata"):
        discovered(answer)


def test_metadata_that_cannot_be_read_is_told() -> None:
    def fail(_: str) -> bytes:
        raise UpstreamFailed("Nobody answers there.")

    scheme = {"type": "openIdConnect", "openIdConnectUrl": "https://acme.example/x"}
    with pytest.raises(ValueError, match="cannot be read: Nobody answers there"):
        oauth.facts(DOCUMENT, scheme, About(DOCS, fetch=fail))
    with pytest.raises(ValueError, match="not whole"):
        oauth.facts(DOCUMENT, scheme, ABOUT)


def test_a_clients_own_credentials_are_exchanged() -> None:
    scheme = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/oauth/token"}}}
    plan = planned({}, schemes={"oauth": scheme}, security=[{"oauth": []}])
    assert [field["name"] for field in plan.app["fields"]] == ["client_id", "client_secret"]
    assert plan.app["session"]["url"] == "https://api.acme.example/oauth/token"
    assert plan.app["credentials"][0]["value"] == "{session_token}"
    assert oauth.session(DOCUMENT, {"flows": {"implicit": {}}}, ABOUT) is None


def test_no_credential_is_put_into_the_address_that_a_document_names() -> None:
    flows = {"clientCredentials": {"tokenUrl": "https://{client_secret}.evil.example/token"}}
    assert oauth.session(DOCUMENT, {"flows": flows}, ABOUT) is None


@pytest.mark.parametrize(
    "scheme",
    [flow(), {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://acme.example/token"}}}],
)
def test_another_host_that_gets_a_clients_secret_is_told(scheme: dict[str, Any]) -> None:
    plan = planned({}, schemes={"oauth": scheme}, security=[{"oauth": []}])
    assert "The client's id and secret go to acme.example, which gives a token for them." in plan.notes
