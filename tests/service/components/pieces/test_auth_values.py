"""What a piece gets of an account."""

from typing import Any

import pytest

from tests.service.components.pieces.samples import PIECE
from webapp.service.components.calls import AccountGrant
from webapp.service.components.errors import ComponentError
from webapp.service.components.pieces import auth_values
from webapp.service.components.pieces.form import PieceForm

OAUTH: dict[str, Any] = {
    "type": "OAUTH2",
    "data": {"team.id": "team_id", "authed_user.access_token": "oauth_access_token"},
    "fields": {"region": {"field": "region"}},
}
CUSTOM: dict[str, Any] = {
    "type": "CUSTOM_AUTH",
    "index": 1,
    "fields": {
        "baseUrl": {"field": "base_url"}, "port": {"field": "port", "kind": "number"},
        "tls": {"field": "tls", "kind": "boolean"}, "note": {"field": "note"},
    },
    "hosts": ["{base_url}", "{note}.acme.example"],
}  # fmt: skip
FORM = PieceForm.model_validate(
    {
        **PIECE,
        "auth": {
            "acme": OAUTH,
            "acme_server": CUSTOM,
            "acme_key": {"type": "SECRET_TEXT", "fields": {"secret_text": {"field": "api_key"}}},
            "acme_basic": {
                "type": "BASIC_AUTH",
                "fields": {"username": {"field": "user"}, "password": {"field": "password"}},
            },
        },
    }
)


def accounts(app: str, **values: str) -> dict[str, AccountGrant]:
    return {"acme": AccountGrant(values=values, app=app)}


def test_a_token_comes_with_what_was_kept_of_its_answer() -> None:
    auth = auth_values.auth(FORM, accounts("acme", oauth_access_token="t", team_id="T1", region="eu"))
    assert auth is not None
    assert (auth["type"], auth["access_token"], auth["token_type"]) == ("OAUTH2", "t", "Bearer")
    assert auth["data"] == {"team": {"id": "T1"}, "authed_user": {"access_token": "t"}}
    assert auth["props"] == {"region": "eu"}


@pytest.mark.parametrize(
    ("app", "values", "auth"),
    [
        ("acme_key", {"api_key": "k"}, {"type": "SECRET_TEXT", "secret_text": "k"}),
        ("acme_basic", {"user": "u", "password": "p"}, {"type": "BASIC_AUTH", "username": "u", "password": "p"}),
        (
            "acme_server",
            {"base_url": "https://a.example", "port": "8443", "tls": "true", "note": ""},
            {"type": "CUSTOM_AUTH", "props": {"baseUrl": "https://a.example", "port": 8443, "tls": True}},
        ),
        ("acme_server", {"port": "odd"}, {"type": "CUSTOM_AUTH", "props": {"port": "odd"}}),
    ],
)
def test_fields_become_the_parts_of_the_pieces_value(app: str, values: dict[str, str], auth: dict[str, Any]) -> None:
    assert auth_values.auth(FORM, accounts(app, **values)) == auth


def test_the_server_that_an_account_names_is_one_of_its_hosts() -> None:
    assert auth_values.hosts(FORM, accounts("acme_server", base_url="https://tasks.acme.example:8443/api")) == (
        "tasks.acme.example:8443",
    )
    assert auth_values.index(FORM, accounts("acme_server")) == 1
    assert auth_values.hosts(FORM, accounts("acme_server", base_url="https://a b", note="eu")) == ("eu.acme.example",)


def test_without_an_account_there_is_nothing() -> None:
    assert auth_values.auth(FORM, {}) is None
    assert auth_values.hosts(FORM, {}) == ()
    assert auth_values.index(FORM, {}) is None


def test_an_account_of_another_app_is_refused() -> None:
    with pytest.raises(ComponentError, match="cannot work with an account of globex"):
        auth_values.auth(FORM, accounts("globex"))
