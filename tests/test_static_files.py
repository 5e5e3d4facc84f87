"""Style sheets are sent in one piece, they and scripts compressed for whoever takes it."""

import gzip
import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from webapp.app import create_app
from webapp.people import users
from webapp.service.domain.base.service import Service
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings

COLD_BYTES = 100_000


@pytest.fixture
def service(settings: Settings) -> Iterator[Service]:
    opened = open_service(settings)
    yield opened
    close_service(opened)


@pytest.fixture
def browser(settings: Settings, service: Service) -> FlaskClient:
    app = create_app(settings, service=service)
    app.config["SERVER_NAME"] = "localhost:8600"
    return app.test_client()


def test_a_style_sheet_is_one_file(browser: FlaskClient) -> None:
    answer = browser.get("/static/css/patchbay.css")
    assert answer.mimetype == "text/css"
    assert "@import" not in answer.text
    assert ".btn {" in answer.text and ".note {" in answer.text


@pytest.mark.parametrize("path", ["/static/css/patchbay.css", "/static/js/patchbay.js"])
def test_it_travels_compressed_to_whoever_takes_it(browser: FlaskClient, path: str) -> None:
    plain, packed = browser.get(path), browser.get(path, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain.headers
    assert gzip.decompress(packed.data) == plain.data
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
    assert plain.headers["ETag"] != packed.headers["ETag"]


def test_it_is_not_sent_again_while_it_is_the_same(browser: FlaskClient) -> None:
    first = browser.get("/static/js/patchbay.js")
    again = browser.get("/static/js/patchbay.js", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_logos_travel_compressed_where_that_is_worth_it(browser: FlaskClient) -> None:
    large, small = "/logos/postgresql.svg", "/logos/schedule.svg"
    for path, encoding in ((large, "gzip"), (small, None)):
        plain, packed = browser.get(path), browser.get(path, headers={"Accept-Encoding": "gzip"})
        assert packed.headers.get("Content-Encoding") == encoding and "Content-Encoding" not in plain.headers
        assert (gzip.decompress(packed.data) if encoding else packed.data) == plain.data
        assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"
        assert packed.headers["Cache-Control"].endswith("immutable")
        assert packed.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert len(browser.get(large, headers={"Accept-Encoding": "gzip"}).data) < 0.6 * len(browser.get(large).data)


def test_other_files_and_missing_ones_are_the_frameworks(browser: FlaskClient) -> None:
    with browser.get("/static/icons/mark.svg") as mark:
        assert mark.data.startswith(b"<svg")
    for path in ("css/absent.css", "../webapp/app.css", "css/../../templates/x.css"):
        assert browser.get(f"/static/{path}").status_code == 404


def test_the_first_look_at_the_apps_takes_few_bytes(browser: FlaskClient, service: Service) -> None:
    """Heads and bodies of the page and of all that it names, as a browser without any of it is sent them."""
    users.create(service.store, service.clock, email="ada@example.com", password="three plain words here", role="owner")
    token = re.search(r'name="csrf_token" value="([^"]+)"', browser.get("/sign-in").text)
    assert token
    signing_in = {"csrf_token": token[1], "email": "ada@example.com", "password": "three plain words here"}
    assert browser.post("/sign-in", data=signing_in).status_code == 303
    page = browser.get("/apps", headers={"Accept-Encoding": "gzip"})
    text = gzip.decompress(page.data).decode()
    named = set(re.findall(r'(?:src|href)="(?:http://localhost:8600)?(/(?:static|logos)/[^"]+)"', text))
    assert len([url for url in named if url.startswith("/logos/")]) > 10 and any("woff2" in url for url in named)
    answers = [page, *(browser.get(url, headers={"Accept-Encoding": "gzip"}) for url in named)]
    assert {answer.status_code for answer in answers} == {200}
    total = sum(len(answer.data) + len(str(answer.headers)) for answer in answers)
    assert total <= COLD_BYTES
    for answer in answers[1:]:
        assert answer.headers["Cache-Control"].endswith("immutable")
        answer.close()
