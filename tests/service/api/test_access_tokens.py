"""The token endpoint, by RFC 6749: every way to authenticate, every error of section 5.2."""

import base64
from typing import Any

import pytest
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from joserfc import jwk, jwt

from tests.sandbox.product.test_server import Inside
from webapp.kit.clock import SECOND, now
from webapp.service.api import access_tokens
from webapp.service.domain.access import oauth_clients
from webapp.service.domain.access.oauth_clients import OAuthClient

URL = "/v1/oauth/token"
GRANT = {"grant_type": "client_credentials"}


def basic(client_id: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


@pytest.fixture
def server(world: Any) -> tuple[str, str]:
    client, secret = oauth_clients.create(world.service, name="Server", scope="connect:accounts:read connect:proxy")
    return client.id, secret


def test_the_answer(world: Any, server: tuple[str, str]) -> None:
    answer = world.http.post(URL, json={**GRANT, "client_id": server[0], "client_secret": server[1], "extra": 1})
    assert answer.status_code == 200
    assert (answer.headers["Cache-Control"], answer.headers["Pragma"]) == ("no-store", "no-cache")
    assert answer.content_type == "application/json"
    token = answer.json.pop("access_token")
    assert answer.json | {"access_token": ""} == {
        "access_token": "",
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": "connect:accounts:read connect:proxy",
        "created_at": world.clock() // SECOND,
    }
    assert world.get("P/accounts", token).status_code == 200


def test_json_form_and_basic_are_all_taken(world: Any, server: tuple[str, str]) -> None:
    body = {**GRANT, "client_id": server[0], "client_secret": server[1]}
    assert world.http.post(URL, json=body).status_code == 200
    assert world.http.post(URL, data=body).status_code == 200
    assert world.http.post(URL, data=GRANT, headers=basic(*server)).status_code == 200
    assert world.http.post(URL, json=GRANT, headers=basic(*server)).status_code == 200
    again = {**GRANT, "client_id": server[0]}
    assert world.http.post(URL, data=again, headers=basic(*server)).status_code == 200


def test_scopes_narrow(world: Any, server: tuple[str, str]) -> None:
    answer = world.http.post(URL, data={**GRANT, "scope": "connect:proxy"}, headers=basic(*server))
    assert answer.json["scope"] == "connect:proxy"
    token = answer.json["access_token"]
    assert world.get("P/accounts", token).status_code == 403


@pytest.mark.parametrize("scope", ["*", "connect:*", "connect:accounts:write", "nonsense"])
def test_a_wider_or_unknown_scope(world: Any, server: tuple[str, str], scope: str) -> None:
    answer = world.http.post(URL, data={**GRANT, "scope": scope}, headers=basic(*server))
    assert (answer.status_code, answer.json["error"]) == (400, "invalid_scope")
    assert answer.json["error_description"]


@pytest.mark.parametrize("mode", ["json", "data", "basic"])
@pytest.mark.parametrize("wrong", [("nobody", "x"), ("nobody", ""), None])
def test_a_wrong_client(world: Any, server: tuple[str, str], mode: str, wrong: tuple[str, str] | None) -> None:
    client_id, secret = wrong or (server[0], server[1] + "x")
    if mode == "basic":
        answer = world.http.post(URL, data=GRANT, headers=basic(client_id, secret))
    else:
        answer = world.http.post(URL, **{mode: {**GRANT, "client_id": client_id, "client_secret": secret}})
    assert (answer.status_code, answer.json["error"]) == (401, "invalid_client")
    assert answer.headers["WWW-Authenticate"].startswith("Basic")


def test_wrong_secrets_are_limited_for_each_client_and_address(world: Any, server: tuple[str, str]) -> None:
    def ask(client_id: str, secret: str, address: str) -> Any:
        environ = {"REMOTE_ADDR": address}
        return world.http.post(URL, data=GRANT, headers=basic(client_id, secret), environ_overrides=environ)

    guesses = [ask(server[0], f"guess-{number}", "2001:db8::1") for number in range(25)]
    assert [answer.status_code for answer in guesses] == [401] * 20 + [429] * 5
    refused = ask(*server, "2001:db8::2")
    assert (refused.status_code, refused.json) == (429, {"error": "Throttled"})
    assert refused.headers["Retry-After"] == "60" and refused.headers["X-RateLimit-Limit"] == "20"
    assert ask(*server, "192.0.2.1").status_code == 200
    assert ask("nobody", "guess", "2001:db8::1").status_code == 401
    world.clock.advance(60 * SECOND)
    assert ask(*server, "2001:db8::1").status_code == 200


def test_right_secrets_are_not_counted(world: Any, server: tuple[str, str]) -> None:
    answers = {world.http.post(URL, data=GRANT, headers=basic(*server)).status_code for _ in range(25)}
    assert answers == {200}


def test_an_unknown_client_and_a_wrong_secret_look_alike(world: Any, server: tuple[str, str]) -> None:
    one = world.http.post(URL, data=GRANT, headers=basic(server[0], "wrong"))
    other = world.http.post(URL, data=GRANT, headers=basic("nobody", "wrong"))
    assert one.data == other.data


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ({"json": {}}, "invalid_request"),
        ({"data": {}}, "invalid_request"),
        ({"data": {"grant_type": ""}}, "invalid_request"),
        ({"data": {"grant_type": "password"}}, "unsupported_grant_type"),
        ({"data": {"grant_type": "refresh_token"}}, "unsupported_grant_type"),
        ({"json": {"grant_type": "authorization_code"}}, "unsupported_grant_type"),
        ({"json": {"grant_type": 1}}, "invalid_request"),
        ({"json": {**GRANT, "client_id": ["x"]}}, "invalid_request"),
        ({"json": {**GRANT, "client_id": 5, "client_secret": "x"}}, "invalid_request"),
        ({"json": {**GRANT, "client_id": "x", "client_secret": 5}}, "invalid_request"),
        ({"json": {**GRANT, "client_id": "x\0"}}, "invalid_request"),
        ({"data": {**GRANT, "client_id": "x\0"}}, "invalid_request"),
        ({"data": {"grant_type": ["client_credentials", "client_credentials"]}}, "invalid_request"),
        ({"data": "{", "content_type": "application/json"}, "invalid_request"),
        ({"data": "[" * 10_000, "content_type": "application/json"}, "invalid_request"),
        ({"data": "<x/>", "content_type": "text/xml"}, "invalid_request"),
        ({"data": b"\xff=\xff", "content_type": "application/x-www-form-urlencoded"}, "invalid_request"),
    ],
)
def test_malformed_requests(shared: Any, sent: dict[str, Any], code: str) -> None:
    answer = shared.http.post(URL, **sent)
    assert (answer.status_code, answer.json["error"]) == (400, code)
    assert set(answer.json) == {"error", "error_description"}


@pytest.mark.parametrize("form", ["data", "json"])
def test_a_compressed_request_is_refused_as_such(shared: Any, form: str) -> None:
    answer = shared.http.post(URL, **{form: GRANT}, headers={"Content-Encoding": "gzip"})
    assert (answer.status_code, answer.json["error"]) == (400, "invalid_request")
    assert "Content-Encoding" in answer.json["error_description"]


def test_credentials_in_two_places(world: Any, server: tuple[str, str]) -> None:
    for more in ({"client_secret": server[1]}, {"client_id": "other"}):
        answer = world.http.post(URL, data={**GRANT, **more}, headers=basic(*server))
        assert (answer.status_code, answer.json["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("header", ["Basic", "Basic !", "Basic é", "Bearer x", "Basic " + "A" * 5000])
def test_a_broken_authorization_header(shared: Any, header: str) -> None:
    answer = shared.http.post(URL, data=GRANT, headers={"Authorization": header})
    assert (answer.status_code, answer.json["error"]) == (401, "invalid_client")


def test_rotation_ends_tokens(world: Any, server: tuple[str, str]) -> None:
    token = world.http.post(URL, data=GRANT, headers=basic(*server)).json["access_token"]
    oauth_clients.rotate(world.service, server[0])
    refused = world.get("P/accounts", token)
    assert refused.status_code == 401 and refused.headers["WWW-Authenticate"] == "Bearer"
    assert world.http.post(URL, data=GRANT, headers=basic(*server)).status_code == 401


def test_a_token_expires_after_an_hour(world: Any, server: tuple[str, str]) -> None:
    token = world.http.post(URL, data=GRANT, headers=basic(*server)).json["access_token"]
    world.clock.advance(3600 * SECOND - 1)
    assert world.get("P/accounts", token).status_code == 200
    world.clock.advance(1 * SECOND)
    assert world.get("P/accounts", token).status_code == 401


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
    assert access_tokens.parse_basic(header) == found


KEY = jwk.RSAKey.generate_key(2048)
AUDIENCE = "http://localhost:8600/v1/oauth/token"


@pytest.fixture
def keyed(world: Any) -> OAuthClient:
    """A client with a public key, and the clock of this machine, by which libraries sign."""
    world.clock.at = now()
    key = oauth_clients.read_key(KEY.as_pem(private=False).decode())
    return oauth_clients.create(world.service, name="Keyed", scope="connect:accounts:read", public_key=key)[0]


def signed(world: Any, client: OAuthClient, **changes: Any) -> dict[str, str]:
    claims = {"iss": client.id, "sub": client.id, "aud": AUDIENCE, "exp": world.clock() // SECOND + 60, "jti": "1"}
    assertion = jwt.encode({"alg": "RS256"}, claims | changes, KEY)
    return {**GRANT, "client_assertion_type": access_tokens.ASSERTION_TYPE, "client_assertion": assertion}


def test_a_library_for_clients_gets_a_token_with_its_key(world: Any, keyed: OAuthClient) -> None:
    session = OAuth2Session(keyed.id, KEY.as_pem(private=True).decode(), PrivateKeyJWT(AUDIENCE))
    session.mount("http://", Inside(world.http.application))
    for _ in range(2):
        token = session.fetch_token(AUDIENCE, grant_type="client_credentials")
        assert world.get("P/accounts", token["access_token"]).status_code == 200
        assert token["scope"] == "connect:accounts:read"
    oauth_clients.set_key(
        world.service, keyed.id, oauth_clients.read_key(jwk.ECKey.generate_key("P-256").as_pem(False).decode())
    )
    assert world.get("P/accounts", token["access_token"]).status_code == 401
    with pytest.raises(OAuthError, match="invalid_client"):
        session.fetch_token(AUDIENCE, grant_type="client_credentials")


def test_an_assertion_counts_once(world: Any, keyed: OAuthClient) -> None:
    body = signed(world, keyed)
    assert [world.http.post(URL, data=body).status_code for _ in range(2)] == [200, 401]
    assert world.http.post(URL, json=signed(world, keyed, jti="2", aud=["http://localhost:8600"])).status_code == 200


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"client_secret": "x"}, 400, "invalid_request"),
        ({"client_assertion_type": "x"}, 400, "invalid_request"),
        ({"client_assertion_type": ""}, 400, "invalid_request"),
        ({"client_assertion": ""}, 400, "invalid_request"),
        ({"client_assertion": "x"}, 401, "invalid_client"),
        ({"client_id": "other"}, 401, "invalid_client"),
        ({"scope": "*"}, 400, "invalid_scope"),
    ],
)
def test_what_is_wrong_around_an_assertion(
    world: Any, keyed: OAuthClient, changes: dict[str, str], status: int, code: str
) -> None:
    answer = world.http.post(URL, data=signed(world, keyed) | changes)
    assert (answer.status_code, answer.json["error"]) == (status, code)
    both = world.http.post(URL, data=signed(world, keyed, jti="2"), headers=basic("a", "b"))
    assert (both.status_code, both.json["error"]) == (400, "invalid_request")


def test_wrong_assertions_are_limited_like_wrong_secrets(world: Any, keyed: OAuthClient) -> None:
    wrong = signed(world, keyed, aud="https://other.example")
    assert {world.http.post(URL, data=wrong).status_code for _ in range(20)} == {401}
    assert world.http.post(URL, data=wrong).status_code == 429
