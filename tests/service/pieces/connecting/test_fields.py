"""What people are asked for to connect."""

from typing import Any

import pytest

from tests.service.pieces import described
from webapp.service.pieces.connecting import fields
from webapp.service.pieces.metadata import Auth


def auth(told: dict[str, Any]) -> Auth:
    return Auth.model_validate(told)


def test_each_prop_is_a_field_of_its_kind() -> None:
    entered = fields.of_props(auth(described.CUSTOM))
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
    entered = fields.secret(auth(described.SECRET))
    assert entered.listed == ({"name": "api_key", "label": "API Key", "secret": True, "description": "From Settings."},)
    assert fields.secret(auth({"type": "SECRET_TEXT", "displayName": "Connection"})).listed[0]["label"] == "API key"


def test_a_name_and_a_password_are_two() -> None:
    assert fields.basic(auth(described.BASIC)).listed == (
        {"name": "username", "label": "E-mail"},
        {"name": "password", "label": "Password", "secret": True},
    )


def test_what_looks_like_a_secret_is_one() -> None:
    told = {"type": "CUSTOM_AUTH", "props": {"accessKeyId": {"type": "SHORT_TEXT", "defaultValue": "x"}}}
    assert fields.of_props(auth(told)).listed == (
        {"name": "access_key_id", "label": "Access key id", "secret": True, "optional": True},
    )


def test_what_cannot_be_asked_is_the_reason() -> None:
    told = {"type": "CUSTOM_AUTH", "props": {"file": {"type": "FILE", "required": True}}}
    assert fields.of_props(auth(told)).reason == "To connect, it needs file, which cannot be asked for here."


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
    assert fields.field_name(own, taken) == name
