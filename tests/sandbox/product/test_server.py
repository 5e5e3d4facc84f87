"""Acme Desk's server calls the real service, with a client that sees one project and may do little."""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from flask import Flask
from requests.adapters import BaseAdapter

from webapp.app import create_app
from webapp.kit.clock import SECOND, FakeClock
from webapp.sandbox.product.server import Connect
from webapp.service.domain.access import connect_tokens, oauth_clients
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.service.domain.projects import projects
from webapp.settings import Settings

URL = "http://localhost:8600"


class Inside(BaseAdapter):
    """Hands each request to an application of this process."""

    def __init__(self, app: Flask) -> None:
        super().__init__()
        self._browser = app.test_client()

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override]
        answer = self._browser.open(
            request.url, method=request.method, headers=dict(request.headers), data=request.body, base_url=URL
        )
        response = requests.Response()
        response.status_code, response._content, response.request = answer.status_code, answer.data, request
        return response

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def service(settings: Settings, clock: FakeClock) -> Iterator[Service]:
    opened = open_service(settings, clock)
    yield opened
    close_service(opened)


@pytest.fixture
def connect(service: Service) -> Connect:
    connect = Connect(URL, *oauth_clients.example(service), "development")
    connect.http.mount("http://", Inside(create_app(service.settings, service=service)))
    return connect


def test_before_there_is_a_project_there_is_no_client(connect: Connect) -> None:
    with pytest.raises(requests.HTTPError, match="401"):
        connect.accounts("ada")


def test_it_makes_tokens_and_reads_accounts_of_its_one_project(
    service: Service, clock: FakeClock, connect: Connect
) -> None:
    own = projects.create(service, name="Acme")
    clock.advance(SECOND)
    other = projects.create(service, name="Other")
    assert connect.project() == own.id and connect.accounts("ada") == []
    token = connect_tokens.verify(
        service, connect.token("ada", "http://localhost:8601", "http://localhost:8601/p")["token"]
    )
    assert (token.external_id, token.allowed_origins) == ("ada", ("http://localhost:8601",))
    assert token.success_redirect_uri == token.error_redirect_uri == "http://localhost:8601/p"
    for path, refused in ((f"{other.id}/accounts", "404"), (f"{own.id}/users", "403"), (f"{own.id}/actions", "403")):
        with pytest.raises(requests.HTTPError, match=refused):
            connect.call("GET", path)
