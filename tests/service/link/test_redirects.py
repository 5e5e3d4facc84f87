"""The way back to the product: its own addresses, or the page that opened the link."""

import re
from typing import Any
from urllib.parse import quote

import pytest

from webapp.service.link.redirects import host_of, with_parameter

ORIGIN = "https://app.acme.example"
PAGE = f"{ORIGIN}/settings?tab=mail&patchbay=1"


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("https://a.example", "https://a.example/?error=x"),
        ("https://a.example/p?", "https://a.example/p?error=x"),
        ("https://a.example/p?a=1#f", "https://a.example/p?a=1&error=x#f"),
        ("https://a.example/p?a=%26b", "https://a.example/p?a=%26b&error=x"),
        ("http://localhost:3000/p#/route?q=1", "http://localhost:3000/p?error=x#/route?q=1"),
        ("javascript:alert(1)", None),
        ("//evil.example", None),
        ("https://", None),
        ("http://[::1", None),
        (None, None),
    ],
)
def test_a_parameter_joins_what_is_there(uri: str | None, expected: str | None) -> None:
    assert with_parameter(uri, "error", "x") == expected


def test_the_value_cannot_leave_its_place() -> None:
    assert (
        with_parameter("https://a.example/", "error", "a&b=c#d\r\n") == "https://a.example/?error=a%26b%3Dc%23d%0D%0A"
    )


def test_the_host_is_shown_without_a_user_name() -> None:
    assert host_of("https://bank.example@evil.example:8443/x") == "evil.example:8443"


def opened_from(world: Any, browser: Any, page: str, **order: Any) -> Any:
    token = world.token(allowed_origins=[ORIGIN], **order)
    return browser.open(token, f"&connectLink=true&app=sandbox&display=redirect&returnTo={quote(page, safe='')}")


def went(world: Any, browser: Any, page: Any, **decision: str) -> Any:
    """Go on in this tab, decide at the provider, and come back."""
    start = re.search(r'href="(/_static/connect/start/[^"]*window=0)"', page.text)
    assert start
    begun = browser.get(start[1].replace("&amp;", "&"), sec_fetch_site="same-origin")
    return browser.get(world.sandbox.decide(begun.headers["Location"], **decision))


def test_who_came_from_an_allowed_page_goes_back_to_it(world: Any, browser: Any) -> None:
    page = opened_from(world, browser, PAGE)
    assert "Afterwards you go back to app.acme.example." in page.text
    back = went(world, browser, page)
    (account,) = world.accounts()
    assert back.headers["Location"] == f"{PAGE}&account_id={account.id}"
    denied = went(world, browser, opened_from(world, browser, PAGE), decision="deny")
    assert denied.headers["Location"] == f"{PAGE}&error=access_denied"


@pytest.mark.parametrize(
    "page",
    [
        "https://evil.example/",
        f"{ORIGIN}.evil.example/",
        f"{ORIGIN}@evil.example/",
        f"{ORIGIN}\\@evil.example/",
        f"{ORIGIN.upper()}/evil",
        "javascript:alert(1)",
        "//evil.example",
    ],
)
def test_nobody_is_sent_to_a_page_that_is_not_allowed(world: Any, browser: Any, page: str) -> None:
    shown = opened_from(world, browser, page)
    assert "Afterwards" not in shown.text
    back = went(world, browser, shown)
    assert back.headers["Location"].startswith("/connect/oauth/ended/")
    assert "evil" not in browser.get(back.headers["Location"]).text


def test_the_tokens_own_address_comes_first(world: Any, browser: Any) -> None:
    page = opened_from(world, browser, PAGE, success_redirect_uri="https://shop.example/done")
    assert went(world, browser, page).headers["Location"].startswith("https://shop.example/done?account_id=apn_")


def test_a_window_of_the_product_shows_how_it_went_and_tells_its_page(world: Any, browser: Any) -> None:
    token = world.token(allowed_origins=[ORIGIN], success_redirect_uri="https://shop.example/done")
    page = browser.open(token, "&connectLink=true&app=sandbox&display=popup&theme=dark")
    assert "data-start" not in page.text and 'data-theme="dark"' in page.text and "Cancel" not in page.text
    assert f'data-origins="[&#34;{ORIGIN}&#34;]" data-ready' in page.text
    ended = browser.get(went(world, browser, page).headers["Location"]).text
    assert 'data-outcome="success"' in ended and ORIGIN in ended and "shop.example" not in ended
