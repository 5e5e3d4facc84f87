"""Frames of pages that a token does not allow, and of none: a constant page instead of the browser's own refusal."""

import logging
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from webapp.kit.clock import HOUR
from webapp.service.domain.access import refused_origins
from webapp.service.link import framing

ALLOWED = "https://app.acme.example"
STRANGER = "https://preview.acme.example"
REFUSED = "Accounts can’t be connected from this site"


def framed(browser: Any, query: str, referer: str = f"{STRANGER}/") -> TestResponse:
    headers = {"sec_fetch_dest": "iframe", **({"referer": referer} if referer else {})}
    return browser.get(f"/_static/connect.html{query}", **headers)  # type: ignore[no-any-return]


def ancestors(page: TestResponse) -> str | None:
    rules = page.headers["Content-Security-Policy"].split("; ")
    return next((rule for rule in rules if rule.startswith("frame-ancestors")), None)


def is_constant(page: TestResponse) -> bool:
    """Whether anybody may frame it, and it holds nothing but Close."""
    free = ancestors(page) is None and "X-Frame-Options" not in page.headers
    return free and not any(word in page.text for word in ("<form", '<a class="btn', "ctok_", "Acme", "alice"))


def test_a_stranger_reads_which_origin_is_missing(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ALLOWED])
    page = framed(browser, f"?token={token}&app=sandbox")
    assert page.status_code == 403 and REFUSED in page.text and is_constant(page)
    assert f"{STRANGER} is missing from the token’s allowed origins." in page.text
    assert f'data-origins="[&#34;{STRANGER}&#34;]"' in page.text and 'data-code="origin_not_allowed"' in page.text
    assert "data-post-close" in page.text


def test_the_real_page_stays_with_its_origins(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ALLOWED])
    for referer in (f"{ALLOWED}/settings?a=b", ""):
        page = framed(browser, f"?token={token}&app=sandbox", referer)
        assert page.status_code == 200 and ancestors(page) == f"frame-ancestors {ALLOWED}"
        assert page.headers["Cross-Origin-Embedder-Policy"] == "require-corp"
        assert page.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    top = browser.open(token)
    assert ancestors(top) == "frame-ancestors 'none'" and top.status_code == 200
    assert "Cross-Origin-Embedder-Policy" not in top.headers


def test_without_a_referer_nobody_is_told(world: Any, browser: Any) -> None:
    page = framed(browser, f"?token={world.token()}&app=sandbox", "")
    assert REFUSED in page.text and is_constant(page) and 'data-origins="[]"' in page.text
    assert "data-post-close" not in page.text


@pytest.mark.parametrize(("query", "words"), [("", "This link is incomplete"), ("?token=ctok_1", "not known here")])
def test_an_unknown_token_in_a_frame_says_so(browser: Any, query: str, words: str) -> None:
    page = framed(browser, query)
    assert words in page.text and is_constant(page) and STRANGER in page.text
    assert ancestors(browser.get(f"/_static/connect.html{query}")) == "frame-ancestors 'none'"


def test_an_expired_token_is_no_way_in(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ALLOWED])
    world.clock.advance(5 * HOUR)
    assert REFUSED in framed(browser, f"?token={token}").text
    assert ancestors(framed(browser, f"?token={token}", f"{ALLOWED}/")) == f"frame-ancestors {ALLOWED}"


def test_the_project_learns_of_it_and_the_log_once(world: Any, browser: Any, caplog: pytest.LogCaptureFixture) -> None:
    token = world.token(allowed_origins=[ALLOWED])
    with caplog.at_level(logging.WARNING, "webapp.service.domain.access"):
        for _ in range(3):
            framed(browser, f"?token={token}")
    assert [record.getMessage().split()[3] for record in caplog.records] == [STRANGER]
    (refused,) = refused_origins.latest(world.service, world.scene)
    assert refused.origin == STRANGER


@pytest.mark.parametrize(
    ("referer", "origin"),
    [
        ("https://a.example/b/c?d=https://e.example", "https://a.example"),
        ("https://A.example:443/", "https://a.example"),
        ("https://*.example/", None),
        ("about:blank", None),
        ("", None),
    ],
)
def test_the_referer_is_read_as_an_origin(referer: str, origin: str | None) -> None:
    with Flask("frames").test_request_context("/", headers={"Referer": referer}):
        assert framing.embedder() == origin


def test_messages_go_to_the_tokens_pages_whoever_the_browser_names(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ALLOWED])
    told = f'data-origins="[&#34;{ALLOWED}&#34;]"'
    for referer in (f"{ALLOWED}/settings", ""):
        assert told in framed(browser, f"?token={token}&app=sandbox", referer).text
    assert 'data-origins="[]"' in browser.open(token).text, "nobody waits for a page of its own"
