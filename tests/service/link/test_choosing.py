"""Choosing an app: every app that can be connected is on one of the pages, in a window and in a frame."""

import re
from typing import Any

import pytest

from webapp.service.link import choosing


def slugs(page: str) -> list[str]:
    return re.findall(r'name="app" value="(\w+)">', page)


def test_pages_lead_to_every_app_and_those_that_need_setup_come_last(
    world: Any, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "APPS_SHOWN", 45)
    first = browser.open(world.token(), "&connectLink=true").text
    location = re.search(r'action="(/_static/connect/ls_\w+)"', first)[1]  # type: ignore[index]
    last = int(re.search(r"Page 1 of (\d+)", first)[1])  # type: ignore[index]
    pages = [browser.get(f"{location}?choose=1&page={number}").text for number in range(1, last + 1)]
    listed = [slug for page in pages for slug in slugs(page)]
    every = {app.slug for app in world.service.catalog.apps(listed)}
    assert len(listed) == len(every) > 150 and "http" not in every
    assert listed.index("zoho_crm") > listed.index("sandbox") and "Needs setup" not in pages[0]
    assert ">Next<" in pages[0] and ">Previous<" not in pages[0] and ">Next<" not in pages[-1]
    assert slugs(browser.get(f"{location}?choose=1&page=9999999").text) == slugs(pages[-1])
    assert slugs(browser.get(f"{location}?choose=1&page=-x").text) == slugs(first)


def test_a_search_goes_along_to_the_next_page_in_a_frame(
    world: Any, browser: Any, hidden_fields: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "APPS_SHOWN", 5)
    page = browser.frame(world.token(allowed_origins=["https://app.acme.example"]), "").text
    searched = browser.post("/_static/connect", {**hidden_fields(page), "choose": "1", "page": "", "q": "google"}).text
    further = browser.post("/_static/connect", hidden_fields(re.split(">Next<", searched)[0])).text
    assert "Page 2 of" in further and not {*slugs(searched)} & {*slugs(further)}
    assert 'name="q" value="google"' in further
