"""The way back leads to a page of ours that can be opened."""

from collections.abc import Iterator

import pytest
from flask import Blueprint, Flask

from webapp.dashboard.return_paths import page_before, safe_next


@pytest.fixture(scope="module")
def app() -> Iterator[Flask]:
    app, dashboard = Flask(__name__), Blueprint("dashboard", __name__)
    dashboard.get("/", endpoint="home")(str)
    dashboard.get("/people", endpoint="people")(str)
    dashboard.get("/people/<person>", endpoint="person")(str)
    dashboard.post("/people/<person>/links/new", endpoint="link")(str)
    dashboard.get("/lists/", endpoint="lists")(str)
    dashboard.post("/links", endpoint="links")(str)
    app.register_blueprint(dashboard)
    yield app


@pytest.mark.parametrize(
    ("referrer", "path"),
    [
        ("http://localhost/people?q=a", "/people?q=a"),
        ("http://localhost/people/%C3%A9%20b", "/people/%C3%A9%20b"),
        ("http://localhost/people/u_1/links/new?x=1", "/people/u_1"),
        ("http://localhost/people/u_1/links/new/", "/people/u_1"),
        ("http://localhost/lists", "/lists"),
        ("http://localhost/links", "/"),
        ("http://localhost/nowhere/at/all", "/"),
        ("http://localhost", "/"),
        ("https://evil.example/people", "/"),
        ("http://localhost//evil.example", "/"),
        ("", "/"),
    ],
)
def test_it_leads_to_the_nearest_page(app: Flask, referrer: str, path: str) -> None:
    with app.test_request_context(headers={"Referer": referrer}, method="POST"):
        assert page_before() == path


def test_it_stays_in_a_portal(app: Flask) -> None:
    base = "http://localhost/portal/ps_1"
    for referrer in (f"{base}/people/u_1", f"{base}/people/u_1/links/new"):
        with app.test_request_context(base_url=base, headers={"Referer": referrer}):
            assert page_before() == "/portal/ps_1/people/u_1"
    for referrer in (f"{base}/links", "http://localhost/people", base):
        with app.test_request_context(base_url=base, headers={"Referer": referrer}):
            assert page_before() == "/portal/ps_1/"


@pytest.mark.parametrize(
    "target",
    ["", "apps", "//evil.example", "/\\evil.example", "/\t/evil.example", "https://a.example", "/" + "x" * 2_000],
)
def test_what_is_no_path_of_ours_is_left_out(target: str) -> None:
    assert safe_next(target) == "/"
    assert safe_next("/apps?q=a", "/elsewhere") == "/apps?q=a"
