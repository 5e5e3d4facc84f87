"""What agents find out about the sign-in."""

from dataclasses import replace

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from flask import Flask
from flask.testing import FlaskClient

from webapp.service.api.sign_in.wiring import register
from webapp.service.domain.base.service import Service

PATHS = (
    "/.well-known/oauth-authorization-server/mcp/oauth",
    "/.well-known/oauth-authorization-server",
    "/mcp/oauth/.well-known/oauth-authorization-server",
)


@pytest.mark.parametrize("path", PATHS)
def test_the_metadata_is_what_the_standard_asks_for(service: Service, http: FlaskClient, path: str) -> None:
    shown = http.get(path).get_json()
    assert shown["issuer"] == f"{service.settings.public_url}/mcp/oauth"
    assert shown["code_challenge_methods_supported"] == ["S256"]
    over_tls = {  # on this machine there is none
        name: value.replace("http:", "https:") if isinstance(value, str) else value for name, value in shown.items()
    }
    AuthorizationServerMetadata(over_tls).validate()


def test_people_of_another_service_do_not_sign_in_here(service: Service) -> None:
    app = Flask("elsewhere")
    settings = replace(service.settings, connect_url="https://connect.example.com")
    register(app, replace(service, settings=settings))
    assert app.test_client().get(PATHS[0]).status_code == 404
    assert app.test_client().post("/mcp/oauth/register", json={}).status_code == 404
