"""The search over everything, as a page and as the fragment that the palette shows."""

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.dashboard.conftest import PASSWORD
from tests.dashboard.fake_components import install
from webapp.dashboard.dashboard import KEY
from webapp.people import users


def groups(html: str) -> dict[str, list[tuple[str, str]]]:
    """The label and the address of each result, by kind."""
    return {
        label: re.findall(r'<a class="hit" href="([^"]*)">.*?<span>([^<]*)</span>', rows, re.DOTALL)
        for label, rows in re.findall(r"<section>\s*<h2>([^<]*)</h2>(.*?)</section>", html, re.DOTALL)
    }


def test_pages_stand_there_before_anything_is_typed(busy: Any) -> None:
    shown = groups(busy.signed_in().get("/search").text)
    assert list(shown) == ["Pages"]
    paths = [path for path, _ in shown["Pages"]]
    assert paths[:3] == ["/apps", "/accounts", "/triggers"] and paths[-2:] == ["/docs", "/docs/api"]
    assert "/build/keys" in paths and "/settings" in paths


def test_apps_accounts_and_actions_by_a_word(busy: Any) -> None:
    install(busy.connect)
    shown = groups(busy.signed_in().get("/search?q=git", htmx=True).text)
    assert shown["Apps"] == [("/apps/github", "GitHub")]
    assert shown["Accounts"] and all(path.startswith("/accounts/apn_") for path, _ in shown["Accounts"])
    assert all(
        "/apps/github/actions/" in path or "/triggers/" in path for path, _ in shown.get("Actions and triggers", [])
    )


def test_the_manual_and_triggers_are_found(stage: Any, tower: Any) -> None:
    board = stage.app.extensions[KEY]
    stage.app.extensions[KEY] = replace(board, headings=lambda q: [("Operate", q, "/docs/operate#backups")] * 9)
    trigger = tower.add(stage.alice.id, name="Backups of the shop")
    tower.add("u_somebody", name="Backups of others")
    shown = groups(stage.signed_in().get("/search?q=backups").text)
    assert shown["Manual"] == [("/docs/operate#backups", "backups")] * 5
    assert shown["Triggers"] == [(f"/triggers/{trigger['id']}", "Backups of the shop")]


def test_every_word_must_fit_and_names_that_begin_so_come_first(busy: Any) -> None:
    browser = busy.signed_in()
    assert [label for _, label in groups(browser.get("/search?q=build keys").text)["Pages"]] == [
        "API &amp; keys · Build"
    ]
    assert groups(browser.get("/search?q=ap").text)["Pages"][0] == ("/apps", "Apps")
    nothing = browser.get("/search?q=zzzz").text
    assert groups(nothing) == {} and "Nothing found for “zzzz”." in nothing


def test_a_member_finds_no_page_of_build_and_an_outsider_nothing(busy: Any) -> None:
    users.create(busy.store, busy.clock, email="bob@example.com", password=PASSWORD, role="member")
    bob = busy.signed_in("bob@example.com")
    assert not [path for path, _ in groups(bob.get("/search").text)["Pages"] if path.startswith("/build")]
    assert "Accounts" not in groups(bob.get("/search?q=git").text), "the accounts are alice's"
    answer = busy.browser().get("/search?q=git")
    assert answer.status_code == 303 and "/sign-in" in answer.headers["Location"]


@pytest.mark.parametrize("q", ["<script>alert(1)</script>", '"><img src=x>', "%00", "a" * 5_000, "\\"])
def test_what_was_typed_is_text(busy: Any, q: str) -> None:
    answer = busy.signed_in().get("/search", query_string={"q": q})
    assert answer.status_code == 200 and "<script>alert" not in answer.text and "<img src=x" not in answer.text


def test_while_the_service_is_down_pages_are_still_found(busy: Any) -> None:
    browser = busy.signed_in()
    busy.connect.down = True
    page = browser.get("/search?q=settings").text
    assert groups(page)["Pages"] == [("/settings", "Settings")]
    assert "The service does not answer now" in page
