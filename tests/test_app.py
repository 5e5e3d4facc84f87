"""The whole application speaks the language of who reads; its API speaks English."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import request
from flask.testing import FlaskClient

from tests.fakes.catalogs import teach
from webapp.app import create_app
from webapp.kit import crypto, translation
from webapp.people import users
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

BASE = "http://localhost:8600"
PASSWORD = "correct horse battery"
GERMAN = {
    "Sign in": "Anmelden",
    "Accounts": "Konten",
    "No accounts yet": "Noch keine Konten",
    "Your settings are saved.": "Die Einstellungen sind gesichert.",
}


@pytest.fixture
def client(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlaskClient]:
    """A browser in front of the application, which speaks English and some German."""
    teach(monkeypatch, tmp_path, "de", GERMAN)
    service = open_service(settings)
    users.create(service.store, service.clock, email="ada@example.com", password=PASSWORD, role="owner")
    yield create_app(settings, service=service).test_client()
    close_service(service)
    translation.speak(translation.DEFAULT)
    translation._catalog.cache_clear()


def send(client: FlaskClient, page: str, path: str, **data: str) -> None:
    token = re.search(r'name="csrf_token" value="([^"]+)"', client.get(page, base_url=BASE).text)
    assert token
    assert client.post(path, base_url=BASE, data={"csrf_token": token[1], **data}).status_code == 303


def test_pages_speak_the_language_of_who_reads_them(client: FlaskClient) -> None:
    german = client.get("/sign-in", base_url=BASE, headers={"Accept-Language": "de-AT, de;q=0.9, en;q=0.5"}).text
    assert '<html lang="de"' in german
    assert "<h1>Anmelden</h1>" in german
    assert "<h1>Sign in</h1>" in client.get("/sign-in", base_url=BASE, headers={"Accept-Language": "tlh"}).text

    send(client, "/sign-in", "/sign-in", email="ada@example.com", password=PASSWORD)
    send(client, "/settings", "/settings", theme="auto", time_zone="", language="de")
    assert "Die Einstellungen sind gesichert." in client.get("/settings", base_url=BASE).text
    # What the page asks the API of, on its own thread, does not change what it speaks.
    page = client.get("/accounts", base_url=BASE, headers={"Accept-Language": "en"}).text
    assert '<html lang="de"' in page
    assert re.findall(r"Noch keine Konten|<h1>Konten</h1>|No accounts yet", page) == [
        "<h1>Konten</h1>",
        "Noch keine Konten",
    ]

    refused = client.get("/v1/connect/apps", base_url=BASE, headers={"Accept-Language": "de"})
    assert refused.status_code == 401
    assert refused.json == client.get("/v1/connect/apps", base_url=BASE).json


@pytest.mark.parametrize(
    ("public_url", "told"),
    [("https://hub.example", "max-age=31536000"), ("http://hub.example", None), ("https://localhost:8600", None)],
)
def test_browsers_are_told_to_come_back_by_https_unless_to_this_machine(
    data: Path, public_url: str, told: str | None
) -> None:
    app = create_app(Settings.from_env({"PATCHBAY_PUBLIC_URL": public_url}, data=data))
    for path in ("/healthz", "/sign-in", "/v1/connect/proj_1/accounts", "/static/css/patchbay.css", "/nowhere"):
        answer = app.test_client().get(path, base_url=public_url)
        assert answer.headers.get("Strict-Transport-Security") == told, path
    close_service(app.extensions["patchbay"])


@pytest.mark.parametrize(
    ("path", "opened"), [("/sign-in", True), ("/", True), ("/v1/connect/apps", False), ("/h/key", False)]
)
def test_pages_alone_have_the_cookie_of_forms(client: FlaskClient, path: str, opened: bool) -> None:
    app = client.application
    with app.test_request_context(path, base_url=BASE):
        assert (app.session_interface.open_session(app, request) is not None) is opened


def test_nothing_that_answers_is_a_coroutine(client: FlaskClient) -> None:
    app = client.application
    hooks = (app.before_request_funcs, app.after_request_funcs, app.teardown_request_funcs)
    functions = [*app.view_functions.values(), *(each for kind in hooks for many in kind.values() for each in many)]
    assert len(functions) > 100 and not any(map(inspect.iscoroutinefunction, functions))
    assert app.ensure_sync(functions[0]) is functions[0]


def test_headers_for_browsers_are_left_out_of_a_pages_own_calls(client: FlaskClient) -> None:
    own = {crypto.REQUEST_ENVIRON: "0123456789abcdef"}
    for path in ("/healthz", "/v1/connect/apps"):
        assert client.get(path, base_url=BASE).headers["X-Content-Type-Options"] == "nosniff"
        assert "X-Content-Type-Options" not in client.get(path, base_url=BASE, environ_overrides=own).headers
        forged = {"X-Patchbay-Request-Id": "0123456789abcdef", "patchbay.request_id": "0123456789abcdef"}
        assert client.get(path, base_url=BASE, headers=forged).headers["X-Content-Type-Options"] == "nosniff"
