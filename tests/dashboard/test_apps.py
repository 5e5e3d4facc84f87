"""The Apps page and the page of one app."""

import re
from typing import Any

import pytest


def names(html: str) -> list[str]:
    return re.findall(r'<a class="name"[^>]*>([^<]*)</a>', html)


def test_featured_first_with_badges_and_what_is_broken(busy: Any) -> None:
    page = busy.signed_in().get("/apps").text
    assert names(page) == ["GitHub", "Slack", "Stripe", "Schedule"]
    assert "2 connected" in page
    assert page.count("Needs you") == 1
    assert "Billing (Stripe) needs you." in page
    assert "Stripe refused the key." in page
    assert 'action="/accounts/apn_000002x/reconnection"' in page
    assert "No account needed" in page
    assert "All 4 apps shown" in page
    assert "1 needs you" in page


def test_a_card_counts_what_the_app_can_do(busy: Any) -> None:
    for app in busy.connect.apps:
        if app["name_slug"] == "github":
            app["patchbay"] |= {"actions": 1, "triggers": 4}
    page = busy.signed_in().get("/apps").text
    assert page.count(" actions</span>") == 0
    assert "<span>1 action</span><span>4 triggers</span>" in page


def test_search_category_and_sort_are_in_the_address(busy: Any) -> None:
    browser = busy.signed_in()
    assert names(browser.get("/apps?q=git").text) == ["GitHub"]
    chips = browser.get("/apps?category=appcat_dev&q=").text
    assert names(chips) == ["GitHub", "Schedule"]
    assert "Developer tools <b>2</b>" in chips
    assert "Empty one" not in chips
    assert names(browser.get("/apps?sort=name-desc").text) == ["Stripe", "Slack", "Schedule", "GitHub"]
    assert names(browser.get("/apps?sort=nonsense&shown=-3&page=x").text) == ["GitHub", "Slack", "Stripe", "Schedule"]


def test_show_more_says_how_many_and_appends_for_htmx(stage: Any) -> None:
    for number in range(60):
        stage.connect.add_app(f"more-{number:02}", f"More {number:02}")
    browser = stage.signed_in()
    page = browser.get("/apps").text
    assert "First 24 of 64 apps shown" in page
    ((plain, by_htmx),) = re.findall(r'class="btn" href="([^"]+)" hx-get="([^"]+)"', page)
    assert plain == "/apps?shown=48"
    longer = browser.get(plain).text
    assert len(names(longer)) == 48
    assert names(longer)[:24] == names(page)
    part = browser.get(by_htmx.replace("&amp;", "&"), htmx=True)
    assert names(part.text) == names(longer)[24:]
    assert part.text.count("data-focus") == 1
    assert "<html" not in part.text
    assert part.headers["HX-Push-Url"] == "/apps?shown=48"
    assert "All 64 apps shown" in browser.get("/apps?shown=72").text


def test_htmx_gets_the_results_and_history_gets_the_page(busy: Any) -> None:
    browser = busy.signed_in()
    part = browser.get("/apps?q=git&category=&sort=featured", htmx=True)
    assert "<html" not in part.text
    assert names(part.text) == ["GitHub"]
    assert part.headers["HX-Push-Url"] == "/apps?q=git"
    assert "HX-Request" in part.headers["Vary"]
    for extra in ({"HX-History-Restore-Request": "true"}, {"HX-Request-Type": "full"}):
        whole = browser.client.get("/apps?q=git", headers={"HX-Request": "true"} | extra)
        assert "<html" in whole.text
        assert 'aria-label="Main"' in whole.text


def test_typing_does_not_spend_the_account_limit(busy: Any) -> None:
    browser = busy.signed_in()
    browser.get("/apps")
    busy.connect.seen.clear()
    for text in ("g", "gi", "git"):
        browser.get(f"/apps?q={text}", htmx=True)
    assert not busy.connect.calls("/accounts")


def test_three_kinds_of_nothing(stage: Any) -> None:
    browser = stage.signed_in()
    none = browser.get("/apps?q=<script>x</script>")
    assert none.status_code == 200
    assert "No app matches" in none.text
    assert "<script>x" not in none.text
    stage.connect.down = True
    down = browser.get("/apps")
    assert down.status_code == 503
    assert down.headers["Retry-After"] == "5"
    assert "Apps can’t be shown right now" in down.text
    assert 'href="/apps"' in down.text
    stage.connect.down = False
    stage.connect.apps.clear()
    assert "No apps yet" in browser.get("/apps").text


def test_page_stands_when_only_the_accounts_are_missing(busy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from webapp.dashboard import dashboard
    from webapp.dashboard.client.transport import ServiceDown

    def down(*_: object, **__: object) -> None:
        raise ServiceDown

    monkeypatch.setattr(dashboard, "read_accounts", down)
    page = busy.signed_in().get("/apps")
    assert page.status_code == 200
    assert "Your accounts can’t be shown right now." in page.text
    assert names(page.text)


def test_service_without_extensions_serves_the_pages(busy: Any) -> None:
    busy.connect.extensions = False
    browser = busy.signed_in()
    for url in ("/apps", "/apps/github", "/apps/slack", "/accounts", "/accounts/apn_000000x"):
        page = browser.get(url)
        assert page.status_code == 200, url
    assert "History" not in page.text
    assert "Used by" not in page.text
    assert "Connect another" in browser.get("/apps/github").text


def test_app_with_accounts(busy: Any) -> None:
    page = busy.signed_in().get("/apps/github").text
    assert "Connect another" in page
    assert "See and change your repositories" in page
    assert page.count('class="row-link"') == 2
    assert page.index("Retrying") < page.index("Working")
    assert 'rel="noopener noreferrer"' in page


def test_app_that_cannot_be_connected_says_why(stage: Any) -> None:
    page = stage.signed_in().get("/apps/slack").text
    assert "Slack has no OAuth client yet." in page
    assert 'action="/apps/slack/connect"' not in page


def test_app_without_accounts_says_so(stage: Any) -> None:
    page = stage.signed_in().get("/apps/schedule").text
    assert "No account is needed" in page
    assert "/connect" not in page
    assert not stage.connect.calls("/accounts?app=schedule")


def test_key_app_names_what_is_needed(stage: Any) -> None:
    page = stage.signed_in().get("/apps/stripe").text
    assert "Secret key" in page
    assert 'action="/apps/stripe/connect"' in page


@pytest.mark.parametrize(
    ("code", "says"),
    [("access_denied", "access was not given"), ("wrong_account", "another GitHub account"), ("<b>", "not finished")],
)
def test_endings_are_named(stage: Any, code: str, says: str) -> None:
    page = stage.signed_in().get(f"/apps/github?error={code}").text
    assert says in page
    assert "<b>&" not in page
    assert "?error=" not in page
