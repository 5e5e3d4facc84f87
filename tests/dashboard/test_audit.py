"""The audit log: who did what, with its filters in the address, for owners and developers alone."""

import re
from html import unescape
from typing import Any

import pytest

from tests.dashboard.conftest import PASSWORD
from webapp.dashboard.dashboard import KEY
from webapp.kit.clock import MINUTE, iso
from webapp.people import users


@pytest.fixture
def audited(busy: Any) -> Any:
    """Forty audit_entries: of Alice at the dashboard, of a command, and of the service itself."""
    actors = [("user", busy.alice.id), ("client", "ocl_42"), ("command", "patchbay client create"), ("system", "x")]
    for number in range(40):
        kind, actor = actors[number % 4]
        busy.connect.audit_entries.append(
            {
                "id": f"aud_{number}", "at": iso(busy.clock() - number * MINUTE), "actor_type": kind, "actor": actor,
                "noun": "client" if kind == "command" else "account", "subject_id": f"thing_{number % 4}",
                "verb": "renamed", "sentence": f"Deed number {number}.", "project_id": "proj_Fake1",
                "environment": "development", "external_user_id": busy.alice.id if kind == "user" else "user-7",
            }
        )  # fmt: skip
    return busy


def audit_entries(html: str) -> list[int]:
    return [int(number) for number in re.findall(r"Deed number (\d+)\.", html)]


def links(html: str) -> list[str]:
    return [unescape(url) for url in re.findall(r'href="(/logs/audit[^"]*)"', html)]


def test_newest_first_with_names_for_those_who_sign_in_here(audited: Any) -> None:
    browser = audited.signed_in()
    assert "/logs/audit" in links(browser.get("/logs").text)
    page = browser.get("/logs/audit").text
    assert audit_entries(page) == list(range(30))
    assert "Newest 30 of 40 entries shown" in page
    assert "alice@example.com</a>" in page and f">{audited.alice.id}<" not in page
    assert "patchbay client create</a> <small>Command</small>" in page
    assert "By itself" in page
    assert "of user-7" in page
    older = next(url for url in links(page) if "after=" in url)
    assert audit_entries(browser.get(older).text) == list(range(30, 40))
    assert audit_entries(browser.get("/logs/audit?after=broken").text) == list(range(30))


def test_filters_are_in_the_address(audited: Any) -> None:
    browser = audited.signed_in()
    of_clients = list(range(2, 40, 4))
    assert audit_entries(browser.get("/logs/audit?noun=client").text) == of_clients
    assert audit_entries(browser.get("/logs/audit?noun=nonsense").text) == list(range(30))
    followed = next(url for url in links(browser.get("/logs/audit").text) if "subject=thing_2" in url)
    page = browser.get(followed).text
    assert audit_entries(page) == of_clients
    assert "<code>thing_2</code>" in page
    mine = browser.get(f"/logs/audit?actor={audited.alice.id}").text
    assert audit_entries(mine) == list(range(0, 40, 4))
    assert "Only by alice@example.com" in mine
    nothing = browser.get("/logs/audit?noun=trigger").text
    assert "Nothing matches" in nothing and 'value="trigger" selected' in nothing
    part = browser.get("/logs/audit?noun=client&actor=", htmx=True)
    assert "<html" not in part.text
    assert part.headers["HX-Push-Url"] == "/logs/audit?noun=client"


def test_a_developer_may_look_and_a_member_may_not(audited: Any) -> None:
    for role, code in (("developer", 200), ("member", 403)):
        users.create(audited.store, audited.clock, email=f"{role}@example.com", password=PASSWORD, role=role)
        browser = audited.signed_in(f"{role}@example.com")
        answer = browser.get("/logs/audit")
        assert answer.status_code == code
        assert (audit_entries(answer.text) != []) == (code == 200)
        assert bool(links(browser.get("/logs").text)) == (code == 200)


def test_none_yet_and_down_are_different(busy: Any) -> None:
    browser = busy.signed_in()
    assert "No entries yet" in browser.get("/logs/audit").text
    busy.connect.down = True
    answer = browser.get("/logs/audit")
    assert answer.status_code == 503
    assert "The audit log can’t be shown right now" in answer.text


def test_another_service_without_it_has_no_such_tab(elsewhere: Any) -> None:
    browser = elsewhere.signed_in()
    assert links(browser.get("/logs").text)
    elsewhere.clock.advance(6 * MINUTE)
    elsewhere.app.extensions[KEY].lacking.put("activity", False)
    elsewhere.connect.extensions = False
    assert browser.get("/logs/audit").status_code == 404


def test_an_entry_leads_to_what_it_is_about(audited: Any) -> None:
    audited.connect.audit_entries[0]["subject_id"] = "apn_000000x"
    audited.connect.audit_entries[1]["subject_id"] = audited.alice.id
    page = audited.signed_in().get("/logs/audit").text
    assert '<a class="link" href="/accounts/apn_000000x">Work</a>' in page
    assert ">apn_000000x<" not in page
    assert f"subject={audited.alice.id}" in page and f">{audited.alice.id}<" not in page
    assert ">thing_2<" in page  # nobody knows it by another name
    only = audited.signed_in().get("/logs/audit?subject=apn_000000x").text
    assert "<code>" not in only.split("<table")[0]
