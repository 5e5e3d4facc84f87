"""OAuth clients and their access tokens."""

import base64

import pytest

from webapp.errors import NotFound, Unauthorized
from webapp.service.domain.access import access_tokens, clients
from webapp.service.domain.base.service import Service


def test_a_client_authenticates_by_its_secret_alone(service: Service) -> None:
    client, secret = clients.create(service, name="Server")
    assert clients.authenticate(service, client.id, secret) == client
    assert clients.authenticate(service, client.id, secret + "x") is None
    assert clients.authenticate(service, client.id, "") is None
    assert clients.authenticate(service, "nobody", secret) is None
    assert clients.authenticate(service, "nobody", "") is None


def test_the_secret_is_not_stored(service: Service) -> None:
    _, secret = clients.create(service, name="Server")
    rows = service.store.all("SELECT * FROM oauth_clients")
    assert rows and secret not in str(rows)


def test_the_scripted_client_is_made_once_and_keeps_its_secret(service: Service) -> None:
    client, secret = clients.scripted(service)
    assert clients.scripted(service) == (client, secret)
    assert clients.authenticate(service, client.id, secret) == client
    rotated, fresh = clients.rotate(service, client.id)
    assert fresh != secret and clients.scripted(service) == (rotated, fresh)
    assert clients.authenticate(service, client.id, fresh) == rotated


def test_the_dashboards_client_is_derived_and_never_stored(service: Service) -> None:
    client_id, secret = clients.dashboard(service)
    assert clients.authenticate(service, client_id, secret) is not None
    assert clients.every(service.store) == []


def test_rotation_ends_every_token_at_once(service: Service) -> None:
    client, secret = clients.create(service, name="Server")
    token = access_tokens.issue(service, client, None).token
    rotated, fresh = clients.rotate(service, client.id)  # in the same millisecond
    assert clients.authenticate(service, client.id, secret) is None
    assert clients.authenticate(service, client.id, fresh) == rotated
    with pytest.raises(Unauthorized, match="revoked"):
        access_tokens.verify(service, token)
    with pytest.raises(NotFound):
        clients.rotate(service, "nobody")


def _basic(text: bytes) -> str:
    return "Basic " + base64.b64encode(text).decode()


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (_basic(b"id:secret"), ("id", "secret")),
        (_basic(b"id:se:cret"), ("id", "se:cret")),
        (_basic(b"a%20b:c%2Bd+e"), ("a b", "c+d e")),
        ("basic " + _basic(b"id:secret")[6:], ("id", "secret")),
        (_basic(b"nocolon"), None),
        (_basic(b"\xff:\xff"), None),
        ("Basic !!!", None),
        ("Basic é", None),
        ("Bearer x", None),
        ("", None),
    ],
)
def test_basic_authentication(header: str, found: tuple[str, str] | None) -> None:
    assert clients.parse_basic(header) == found
