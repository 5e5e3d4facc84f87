"""The registered client: redirect URIs as whole strings, its secret compared, and only scopes that exist."""

import pytest

from webapp.sandbox.clients import DEFAULT_SCOPE, SCOPES, Client, in_words

ONE, TWO = "http://localhost:9/back", "http://localhost:9/other"


def client(*uris: str) -> Client:
    return Client("sandbox-client", "canary", uris, "Patchbay")


@pytest.mark.parametrize("uri", [f"{ONE}/", f"{ONE}?x=1", ONE.upper(), "", "http://localhost:9"])
def test_a_redirect_uri_is_compared_as_a_whole(uri: str) -> None:
    assert client(ONE).check_redirect_uri(ONE)
    assert not client(ONE).check_redirect_uri(uri)


def test_only_a_single_redirect_uri_goes_without_saying() -> None:
    assert client(ONE).get_default_redirect_uri() == ONE
    assert client(ONE, TWO).get_default_redirect_uri() is None


def test_scopes_that_exist_each_once_in_the_order_asked_for() -> None:
    assert client().get_allowed_scope("webhooks admin profile webhooks") == "webhooks profile"
    assert client().get_allowed_scope("") == client().get_allowed_scope(None) == "profile"
    assert client().get_allowed_scope("admin") == ""


def test_what_the_client_may_do() -> None:
    one = client(ONE)
    assert one.check_client_secret("canary")
    assert not one.check_client_secret("")
    assert not one.check_client_secret("canary ")
    assert one.check_grant_type("refresh_token")
    assert not one.check_grant_type("client_credentials")
    assert not one.check_response_type("token")
    assert not one.check_endpoint_auth_method("none", "token")


def test_scopes_in_words() -> None:
    assert in_words("webhooks admin profile") == [SCOPES["webhooks"], SCOPES["profile"]]
    assert in_words("") == []
    assert in_words(DEFAULT_SCOPE) == ["Read your name and e-mail address"]
