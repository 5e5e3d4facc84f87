"""Build → Logs: the whole project's, for developers and owners; a member's own hold nothing of others."""

import html
import re
from typing import Any

import pytest

from tests.dashboard.embedded import Embedded
from webapp.service.domain.access import api_calls
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

SECRET = "canary-7f3a"


@pytest.fixture
def eventful(office: Embedded) -> Embedded:
    """A run of the owner, one of a user of the product, and one in another project."""
    other = projects.create(office.service, name="Other", app_name="Other", support_email="o@o.example")
    for scene, user in (
        (office.scene, office.people["owner"].id),
        (office.scene, "user-42"),
        (office.scene, office.people["member"].id),
        (Scene(other.id, "development"), "user-43"),
    ):
        run = Run(user, "sc_1", "http-send-request", "0.0.1", "http", office.service.clock(), summary=f"For {user}")
        runs.begin(office.service, scene, run, {"configured_props": {}, "masked_props": [], "dynamic_props_id": None})
        runs.end(office.service, scene, run, outputs={"exports": {}, "os": [], "ret": None})
    return office


def users(page: str) -> set[str]:
    return set(re.findall(r"run_\w+", page))


def test_a_project_s_logs_name_everybody_s_entries(eventful: Embedded) -> None:
    page = eventful.browser("developer").get("/build/logs?kind=run")
    assert "user-42" in page and "user-43" not in page and "Whole project" in page
    assert page.count('class="log"') >= 3
    only = eventful.browser().get("/build/logs?user=user-42")
    assert only.count('class="log"') == 1 and 'value="user-42"' in only
    run_id = users(only).pop()
    opened = eventful.browser().get(f"/build/logs/{run_id}")
    assert 'href="/build/logs?user=user-42"' in opened and "Run again" not in opened and "curl" in opened
    assert eventful.browser().get("/build/logs/export.jsonl?user=user-42").count("\n") == 1


def test_a_member_sees_their_own_only(eventful: Embedded) -> None:
    browser = eventful.browser("member")
    for path in ("/build/logs", "/build/logs/news", "/build/logs/export.csv"):
        browser.get(path, code=404)
    page = browser.get("/logs?kind=run&user=user-42")
    assert 'class="log"' in page and "user-42" not in page and "Whole project" not in page
    others = users(eventful.browser().get("/build/logs?user=user-42")).pop()
    browser.get(f"/logs/{others}", code=404)
    browser.get(f"/build/logs/{others}", code=404)
    assert "Nothing matches" in browser.get(f"/logs?id={others}")
    assert 'href="/logs/' in page and "Run again" in browser.get(f"/logs/{users(page).pop()}")


def test_what_a_page_changes_is_a_call_and_what_it_reads_is_not(eventful: Embedded) -> None:
    owner = eventful.browser()

    def calls() -> dict[str, str]:
        """The calls that are listed, and what each is."""
        api_calls.flush(eventful.service)
        page = html.unescape(owner.get("/build/logs?kind=api_call"))
        return dict(re.findall(r'id="log-(call_\w+)".*?class="log-what">\s*(.*?)\s*<small', page, re.DOTALL))

    before = calls()
    owner.get("/accounts")
    owner.send("/build/workflows", {"name": SECRET, "url": f"https://10.0.0.1/{SECRET}"})
    assert [call for call_id, call in calls().items() if call_id not in before] == ["POST /v1/connect/…/workflows"]
    page = owner.get("/build/logs?kind=api_call")
    assert SECRET not in page and SECRET not in owner.get("/build/logs/export.jsonl")


def test_a_bad_filter_gets_a_sentence(eventful: Embedded) -> None:
    page: Any = eventful.browser().get("/build/logs?user=%01")
    assert "control characters" in page and "Show everything" in page
