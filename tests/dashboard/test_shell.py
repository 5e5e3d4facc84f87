"""What stands around every page: the navigation with its counts, and times, addresses and logos in templates."""

import re
from typing import Any

from flask import g

from tests.dashboard.trigger.fake_triggers import Watchtower
from webapp.dashboard import shell
from webapp.people.preferences import Preferences

NAMES = ["Apps", "Accounts", "Triggers", "Logs", "Agents", "Settings"]


def navigation(stage: Any, url: str, method: str = "GET") -> tuple[shell.MenuItem, ...]:
    with stage.request(url, method=method):
        entries = shell.context()["nav"]
    assert isinstance(entries, tuple)
    return entries


def test_where_one_is_is_marked(stage: Any) -> None:
    for url, current in (
        ("/apps/github", ["Apps"]),
        ("/apps/tasks/actions/tasks-create-task", ["Apps"]),
        ("/accounts/apn_1", ["Accounts"]),
        ("/triggers/dc_1/deletion", ["Triggers"]),
        ("/logs/audit", ["Logs"]),
        ("/settings", ["Settings"]),
        ("/nowhere", []),
        ("/apps/tasks/actions/tasks-create-task/runs/run_1", ["Apps"]),
    ):
        entries = navigation(stage, url)
        assert [entry.label for entry in entries] == NAMES
        assert [entry.label for entry in entries if entry.current] == current, url
    posted = navigation(stage, "/apps/tasks/triggers/tasks-new-task/deployment", "POST")
    assert [entry.label for entry in posted if entry.current] == ["Apps"], "the form stands there again"


def test_every_entry_has_an_icon(stage: Any) -> None:
    drawn = stage.app.jinja_env.get_template("shared/icons.html").module.paths
    with stage.request("/apps"):
        context = shell.context()
    entries = [*context["nav"], *context["nav_build"]]
    assert len(entries) > len(NAMES)
    assert {entry.icon for entry in entries} - set(drawn) == set(), (
        "it would be left empty: templates/shared/icons.html"
    )


def test_counts_say_how_many_need_somebody(busy: Any, tower: Watchtower) -> None:
    tower.add(busy.alice.id)
    tower.add(busy.alice.id, active=False, switched_off="Its account is gone.")
    tower.add(busy.alice.id, waits="Its account needs you.")
    _, accounts, triggers, *_ = navigation(busy, "/settings")
    assert (accounts.total, accounts.bad) == (3, "1 needs you")
    assert (triggers.total, triggers.bad) == (3, "2 need you")


def test_what_cannot_be_counted_has_no_count_and_is_asked_once(busy: Any) -> None:
    busy.connect.down = True
    _, accounts, triggers, *_ = navigation(busy, "/settings")
    assert (accounts.total, accounts.bad, triggers.total, triggers.bad) == (None, "", None, "")
    assert len(busy.connect.seen) == 1


def test_a_service_without_triggers_counts_none(stage: Any) -> None:
    _, accounts, triggers, *_ = navigation(stage, "/settings")
    assert (accounts.total, triggers.total, triggers.bad) == (None, None, "")


def test_another_service_without_activity_has_no_such_entry(elsewhere: Any) -> None:
    elsewhere.connect.extensions = False
    assert [entry.label for entry in navigation(elsewhere, "/apps")] == ["Apps", "Accounts", "Triggers", "Settings"]


def test_a_part_of_a_page_and_a_visitor_get_no_navigation(busy: Any) -> None:
    browser = busy.signed_in()
    assert re.search(r'<a[^>]+href="/accounts"[^>]*aria-current="page"', browser.get("/accounts").text)
    busy.connect.seen.clear()
    with busy.request("/accounts"):
        g.fragment = True
        assert "nav" not in shell.context()
    with busy.app.test_request_context("/sign-in"):
        assert "nav" not in shell.context()
    assert busy.connect.seen == []


def test_a_time_is_in_the_zone_that_was_chosen_and_one_that_is_none_left_out(stage: Any) -> None:
    with stage.request():
        hour_ago = shell.when(shell.clock(), "2027-01-15T07:00:00Z")
        assert hour_ago == ("2027-01-15T07:00:00Z", "1 hour ago", "15 Jan 2027, 07:00:00 UTC")
        g.preferences = Preferences(time_zone="Asia/Tokyo")
        in_tokyo = shell.when(shell.clock(), "2027-01-15T07:00:00Z")
        assert in_tokyo is not None and in_tokyo.exact == "15 Jan 2027, 16:00:00 JST"
        for text in (None, "", "yesterday", "9999999-01-01T00:00:00Z"):
            assert shell.when(shell.clock(), text) is None


def test_names_stay_in_their_place_of_an_address(stage: Any) -> None:
    with stage.request():
        assert shell.account_url("apn_1") == "/accounts/apn_1"
        assert shell.app_url("../a?b") == "/apps/..%2Fa%3Fb"


def test_a_logo_comes_from_where_the_page_may_load_it(stage: Any) -> None:
    with stage.request():
        for source in ("/static/logos/github.svg", "http://localhost/logos/github.svg"):
            assert shell.logo_url(source) == source
        for source in (
            "//evil.example/logo.svg",
            "http://localhost.evil.example/logo.svg",
            "https://evil.example/logo.svg",
            "javascript:alert(1)",
            "",
        ):
            assert shell.logo_url(source) == "", source
