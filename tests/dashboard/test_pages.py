"""Headers, cookies, errors and sizes: what holds for every page."""

import gzip
from typing import Any

import pytest

from webapp.dashboard import apps as apps_module


def test_headers_of_every_page(busy: Any) -> None:
    browser = busy.signed_in()
    for url in ("/apps", "/accounts", "/accounts/apn_000000x", "/activity", "/settings", "/nowhere", "/sign-in"):
        headers = browser.get(url).headers
        policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert "camera=()" in headers["Permissions-Policy"]
        assert "HX-Request" in headers["Vary"]


def test_nonces_are_not_repeated(stage: Any) -> None:
    browser = stage.browser()
    policies = {browser.get("/sign-in").headers["Content-Security-Policy"] for _ in range(3)}
    assert len(policies) == 3


def test_pages_hold_nothing_inline(busy: Any) -> None:
    browser = busy.signed_in()
    for url in (
        "/apps",
        "/apps/github",
        "/accounts",
        "/accounts/apn_000000x",
        "/activity",
        "/activity/audit",
        "/settings",
    ):
        page = browser.get(url).text
        for forbidden in (" style=", " onclick=", " onload=", "hx-on", "javascript:", "<script>", "js:"):
            assert forbidden not in page, (url, forbidden)


def test_errors_name_cause_and_next_step(stage: Any) -> None:
    browser = stage.signed_in()
    missing = browser.get("/nowhere")
    assert missing.status_code == 404
    assert "There is nothing here" in missing.text and ">Go to the start page</a>" in missing.text
    assert '<a class="btn primary wide" href="/accounts">See your accounts</a>' in browser.get("/accounts/apn_no").text
    wrong = browser.get("/sign-out")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "OPTIONS, POST")
    part = browser.get("/accounts/apn_nothing", htmx=True)
    assert (part.status_code, part.headers["HX-Retarget"]) == (404, "#status")


def test_a_bug_shows_a_reference_and_no_detail(
    stage: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise RuntimeError("canary-detail")

    monkeypatch.setattr(apps_module.AppsQuery, "of_request", broken)
    answer = stage.signed_in().get("/apps")
    assert answer.status_code == 500
    assert "canary-detail" not in answer.text
    reference = answer.text.split('<span class="mono">')[1].split("<")[0]
    assert reference in caplog.text
    assert "canary-detail" in caplog.text


def test_paths_of_the_api_are_not_answered_here(stage: Any) -> None:
    answer = stage.signed_in().get("/v1/nothing")
    assert answer.status_code == 404
    assert "Content-Security-Policy" not in answer.headers
    assert "Patchbay" not in answer.text


def test_pages_travel_small(stage: Any) -> None:
    for number in range(100):
        stage.connect.add_app(f"more-{number:03}", f"More {number:03}", description="A sentence about it. " * 3)
        stage.connect.add_account(stage.alice.id, "github")
    browser = stage.signed_in()
    for url in ("/apps", "/apps/github", "/accounts", "/accounts/apn_000000x", "/activity", "/settings"):
        answer = browser.get(url, **{"Accept-Encoding": "gzip", "Sec-Fetch-Site": "same-origin"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert len(answer.data) < 12_000, url
        assert b"</html>" in gzip.decompress(answer.data)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_asks_for_is_not_compressed(stage: Any, site: str) -> None:
    answer = stage.signed_in().get("/apps", **{"Accept-Encoding": "gzip", "Sec-Fetch-Site": site})
    assert "Content-Encoding" not in answer.headers
    assert "Sec-Fetch-Site" in answer.headers["Vary"]


def test_theme_comes_from_its_cookie(stage: Any) -> None:
    browser = stage.browser()
    browser.client.set_cookie("theme", "dark")
    assert 'data-theme="dark"' in browser.get("/sign-in").text
    browser.client.set_cookie("theme", '"><script>')
    assert 'data-theme="auto"' in browser.get("/sign-in").text
