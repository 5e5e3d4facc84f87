"""Style sheets are sent in one piece, they and scripts compressed for whoever takes it."""

import gzip
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from webapp.app import create_app
from webapp.service.domain.instance.opening import close_service, open_service
from webapp.settings import Settings


@pytest.fixture
def browser(settings: Settings) -> Iterator[FlaskClient]:
    service = open_service(settings)
    app = create_app(settings, service=service)
    app.config["SERVER_NAME"] = "localhost:8600"
    yield app.test_client()
    close_service(service)


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
