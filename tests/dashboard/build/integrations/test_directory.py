"""The public directory is brought, followed, stopped and removed on the page Integrations, by owners only."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.embedded import Embedded
from tests.fakes.public_directory import brought
from webapp.service.directory import directory
from webapp.service.domain.instance import directory_download

PAGE = "/build/integrations"
BRING, PROGRESS, STOP, REMOVAL = (f"{PAGE}/directory{path}" for path in ("", "/progress", "/stop", "/removal"))
BUTTON = "Bring the public directory"


@pytest.fixture(autouse=True)
def _tidy(office: Embedded) -> Iterator[None]:
    yield
    directory.remove(office.service.settings.data)
    directory_download.stop(office.service)


def put(office: Embedded, **facts: Any) -> None:
    """The worker has come so far."""
    present = directory_download.current(office.service)
    assert present is not None
    file = office.service.settings.data / directory_download.FILE
    file.write_text(json.dumps(asdict(replace(present, **facts))))


def test_it_is_brought_while_the_page_shows_how_far_it_is(office: Embedded, tmp_path: Path) -> None:
    browser = office.browser()
    assert BUTTON in browser.get(PAGE)
    page = browser.follow(BRING)
    assert "Waiting for the worker" in page and BUTTON not in page and "every 1500ms" in page
    assert "Waiting for the worker" in browser.follow(BRING)  # a second click changes nothing
    assert browser.get(f"{PROGRESS}?known=waiting.looking.0", htmx=True, code=204) == ""
    put(office, state="working", step="downloading", done=12_300_000)
    part = browser.get(f"{PROGRESS}?known=waiting.looking.0", htmx=True)
    assert 'max="45000000" value="12300000"' in part and "11.7\xa0MiB of about 42.9\xa0MiB" in part
    put(office, state="working", step="indexing", done=1_200)
    assert "1,200 of about 2,640 documents" in browser.get(PROGRESS, htmx=True)
    brought(office.service.settings.data, tmp_path)
    put(office, state="done", version="1.3.17")
    part = browser.get(f"{PROGRESS}?known=x", htmx=True)
    assert "The public directory is here." in part and "every 1500ms" not in part
    assert "103 documents" in part and "Version 1.3.17" in part and "Look for a newer version" in part
    browser.get(PROGRESS, code=303)


def test_what_failed_says_why_and_can_be_tried_again(office: Embedded, tmp_path: Path) -> None:
    browser = office.browser()
    browser.follow(BRING)
    put(office, state="failed", error="The registry <b>did not</b> answer.")
    part = browser.get(PROGRESS, htmx=True)
    assert "The registry &lt;b&gt;did not&lt;/b&gt; answer." in part and "Try again" in part
    assert "could not be brought" in part
    assert "Waiting for the worker" in browser.follow(BRING)
    brought(office.service.settings.data, tmp_path)
    put(office, state="done", version="")
    assert "The registry has no newer version." in browser.get(PAGE)


def test_it_is_stopped(office: Embedded) -> None:
    browser = office.browser()
    browser.follow(BRING)
    assert BUTTON in browser.follow(STOP)
    assert "It was stopped." in browser.get(PROGRESS, htmx=True)
    assert BUTTON in browser.follow(STOP)  # another tab was earlier


def test_it_is_removed_after_a_question(office: Embedded, tmp_path: Path) -> None:
    browser = office.browser()
    brought(office.service.settings.data, tmp_path)
    assert "Remove the public directory?" in browser.get(REMOVAL)
    browser.follow(BRING)
    assert "is being brought or updated just now" in browser.follow(REMOVAL)
    browser.follow(STOP)
    assert "The public directory is removed." in browser.follow(REMOVAL)
    assert BUTTON in browser.follow(REMOVAL)


def test_only_owners_bring_it(office: Embedded) -> None:
    for role in ("developer", "member"):
        browser = office.browser(role)
        browser.get(PROGRESS, htmx=True, code=404)
        for path in (BRING, STOP, REMOVAL):
            assert browser.send(path).status_code == 404
    assert directory_download.current(office.service) is None
