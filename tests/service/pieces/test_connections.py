"""What people are asked for to connect.

What a piece looks at of a token answer.

Ways to connect as an app says them.
"""

from typing import Any

import pytest

from tests.service.pieces import described
from webapp.service.pieces import connections
from webapp.service.pieces.connections import connection, kept
from webapp.service.pieces.metadata import Auth

DOCS = "https://www.npmjs.com/package/@acme/piece-acme-tasks"


def auth(told: dict[str, Any]) -> Auth:
    return Auth.model_validate(told)


def test_each_prop_is_a_field_of_its_kind() -> None:
    entered = connections.of_props(auth(described.CUSTOM))
    assert entered.listed == (
        {"name": "base_url", "label": "Server", "description": "Run acme serve.\n\nMind the port."},
        {"name": "api_key", "label": "Key", "secret": True},
        {"name": "port", "label": "Port", "optional": True, "default": "8443"},
        {
            "name": "tls",
            "label": "TLS",
            "options": [{"label": "Yes", "value": "true"}, {"label": "No", "value": "false"}],
            "optional": True,
            "default": "true",
        },
        {
            "name": "zone",
            "label": "Zone",
            "options": [{"label": "One", "value": "json:1"}, {"label": "Two", "value": "json:2"}],
            "optional": True,
        },
    )
    assert {own: (each.field, each.kind) for own, each in (entered.of_piece or {}).items()} == {
        "baseUrl": ("base_url", "text"),
        "apiKey": ("api_key", "text"),
        "port": ("port", "number"),
        "tls": ("tls", "boolean"),
        "zone": ("zone", "choice"),
    }
    assert entered.servers == ("{base_url}",)


def test_a_secret_text_is_one_field() -> None:
    entered = connections.secret(auth(described.SECRET))
    assert entered.listed == ({"name": "api_key", "label": "API Key", "secret": True, "description": "From Settings."},)
    assert (
        connections.secret(auth({"type": "SECRET_TEXT", "displayName": "Connection"})).listed[0]["label"] == "API key"
    )


def test_a_name_and_a_password_are_two() -> None:
    assert connections.basic(auth(described.BASIC)).listed == (
        {"name": "username", "label": "E-mail"},
        {"name": "password", "label": "Password", "secret": True},
    )


def test_what_looks_like_a_secret_is_one() -> None:
    told = {"type": "CUSTOM_AUTH", "props": {"accessKeyId": {"type": "SHORT_TEXT", "defaultValue": "x"}}}
    assert connections.of_props(auth(told)).listed == (
        {"name": "access_key_id", "label": "Access key id", "secret": True, "optional": True},
    )


def test_what_cannot_be_asked_is_the_reason() -> None:
    told = {"type": "CUSTOM_AUTH", "props": {"file": {"type": "FILE", "required": True}}}
    assert connections.of_props(auth(told)).reason == "To connect, it needs file, which cannot be asked for here."


@pytest.mark.parametrize(
    ("own", "taken", "name"),
    [
        ("apiKey", (), "api_key"),
        ("apiKey", ("api_key",), "api_key_2"),
        ("oauth_token", (), "field_oauth_token"),
        ("2fa", (), "field_2_fa"),
        ("名前", (), "field"),
    ],
)
def test_names_are_those_that_fields_may_have(own: str, taken: tuple[str, ...], name: str) -> None:
    assert connections.field_name(own, taken) == name


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("context.auth.data.authed_user.access_token", {"authed_user_access_token": "authed_user.access_token"}),
        ("auth.data['instance_url'] + auth?.data?.team", {"instance_url": "instance_url", "team": "team"}),
        ('x.authValue.data["team"].id.toString()', {"team_id": "team.id"}),
        ("auth.data.access_token; response.data.items; auth.data", {}),
        ("auth.data.oauth_id", {"field_oauth_id": "oauth_id"}),
    ],
)
def test_members_that_it_reads_are_kept(source: str, names: dict[str, str]) -> None:
    assert kept(source) == names


def made(told: dict[str, Any], **keep: str) -> Any:
    return connection(1, Auth.model_validate(told), keep, DOCS)


def test_a_sign_in_is_oauth_with_its_fields_in_the_address() -> None:
    way = made(described.OAUTH, team_id="team.id", instance_url="instance_url")
    oauth = way.facts["oauth"]
    assert (way.facts["auth_type"], [field["name"] for field in way.facts["fields"]]) == ("oauth", ["region"])
    assert oauth["authorize_url"] == "https://{region*}.acme.io/authorize"
    assert oauth["token_url"] == "https://api.acme.io/token?v=2"
    assert (oauth["pkce"], oauth["token_auth_method"]) == (True, "client_secret_basic")
    assert oauth["authorize_params"] == {"access_type": "offline", "audience": "api"}
    assert oauth["scopes"][0] == {"scope": "tasks:read", "words": "use tasks:read"}
    assert oauth["keep"] == {"team_id": "team.id", "instance_url": "instance_url"}
    assert way.form.index == 1
    assert way.form.data == {"team.id": "team_id", "instance_url": "instance_url"}
    assert way.form.hosts == ("{instance_url}",)


def test_what_an_address_asks_in_its_query_is_asked_with_the_rest() -> None:
    way = made({**described.OAUTH, "authUrl": "https://acme.io/a?user_scope=x%20y", "prompt": "", "method": None})
    assert way.facts["oauth"]["authorize_url"] == "https://acme.io/a"
    assert way.facts["oauth"]["authorize_params"]["user_scope"] == "x y"
    assert way.facts["oauth"]["authorize_params"]["prompt"] == "consent"
    assert way.facts["oauth"]["client"]["console_url"] == "https://acme.io"


@pytest.mark.parametrize("header", [True, False])
def test_a_client_that_signs_in_by_itself_is_a_session(*, header: bool) -> None:
    way = made({**described.CLIENT, **({"authorizationMethod": "HEADER"} if header else {})})
    assert way.facts["auth_type"] == "keys"
    assert [field["name"] for field in way.facts["fields"]] == ["client_id", "client_secret"]
    session = way.facts["session"]
    assert session["form"]["grant_type"] == "client_credentials"
    assert ("credentials" in session) is header
    assert ("client_id" in session["form"]) is not header
    assert way.form.token == "session_token"


@pytest.mark.parametrize(
    ("told", "names"),
    [
        (described.SECRET, ["api_key"]),
        (described.BASIC, ["username", "password"]),
        (described.CUSTOM, ["base_url", "api_key", "port", "tls", "zone"]),
    ],
)
def test_what_people_enter_is_an_app_with_keys(told: dict[str, Any], names: list[str]) -> None:
    way = made(told)
    assert way.facts["auth_type"] == "keys"
    assert [field["name"] for field in way.facts["fields"]] == names
    assert (way.form.type, way.form.validated) == (told["type"], told.get("hasValidate", False))


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (described.OIDC, "It signs in as a workload"),
        ({"type": "FUTURE"}, "It connects in a way that is not known here"),
        ({"type": "CUSTOM_AUTH", "props": {}}, "It connects in a way that is not known here"),
        ({"type": "OAUTH2", "authUrl": "x", "tokenUrl": ""}, "Its OAuth addresses are not whole"),
        ({**described.OAUTH, "authUrl": "http://acme.io"}, "Its OAuth addresses are not whole"),
        ({**described.OAUTH, "props": {"x": {"type": "FILE", "required": True}}}, "To connect, it needs x"),
    ],
)
def test_any_other_says_why_not(told: dict[str, Any], reason: str) -> None:
    assert made(told).reason.startswith(reason)
