"""Build → Logs: the whole project's, for developers and owners; a member's own hold nothing of others."""

import html
import re
from collections.abc import Sequence
from typing import Any

import pytest

from tests.dashboard.embedded import Embedded
from tests.fakes.deployed import emit, plant_trigger
from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.kit.crypto import new_id
from webapp.kit.cursors import Window
from webapp.people import users
from webapp.service.components.calls import Reply
from webapp.service.domain.access import api_calls
from webapp.service.domain.access.api_calls import ApiCall
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.logs import logs
from webapp.service.domain.projects import activity, projects
from webapp.service.domain.projects.activity import Subject
from webapp.service.domain.projects.log_entries import KINDS, STATUSES, LogEntry, LogFilter
from webapp.service.domain.projects.projects import Scene
from webapp.service.domain.triggers import runs as trigger_runs

SECRET = "canary-7f3a"
COUNTED = re.compile(r'class="chip"[^>]*>[^<]*<b>[1-9]')


@pytest.fixture
def user() -> str:
    """A user of the product, whom no other test knows."""
    return new_id("user")


@pytest.fixture
def eventful(office: Embedded, user: str) -> Embedded:
    """A run of the owner, one of :func:`user`, and one in another project."""
    other = projects.create(office.service, name="Other", app_name="Other", support_email="o@o.example")
    for scene, whose in (
        (office.scene, office.people["owner"].id),
        (office.scene, user),
        (office.scene, office.people["member"].id),
        (Scene(other.id, "development"), "user-43"),
    ):
        run(office, scene, whose)
    return office


def run(office: Embedded, scene: Scene, user: str, agent: str | None = None) -> None:
    at = office.service.clock()
    begun = Run(user, "sc_1", "http-send-request", "0.0.1", "http", at, summary=f"For {user}", agent=agent)
    runs.begin(office.service, scene, begun, {"configured_props": {}, "masked_props": [], "dynamic_props_id": None})
    runs.end(office.service, scene, begun, outputs={"exports": {}, "os": [], "ret": None})


@pytest.fixture
def of_others(eventful: Embedded, user: str) -> Sequence[LogEntry]:
    """An entry of every source of :func:`user`, beside runs of each person who has a role."""
    service, scene, now = eventful.service, eventful.scene, eventful.service.clock()
    run(eventful, scene, user, agent="Desk Helper")
    trigger = plant_trigger(service, scene, ["https://example.com/hook"], user=user)
    emit(service, trigger, {"n": 1})
    with service.store.write() as tx:
        trigger_runs.write(tx, service, trigger, "request", now, Reply(None), emitted=1)
        subject = Subject("apn_of42", scene, trigger.external_user_id, "http")
        activity.write(tx, subject, now, "connected", "Connected.", good=True)
    plant_approval(service, scene, plant_agent(service, scene, user))
    call = ApiCall(scene, user, "user", user, "GET", "/accounts", None, 200, None, "req_1", 5, now)
    api_calls.note(service, call)
    api_calls.flush(service)
    entries = logs.page(service.store, now, LogFilter(scene), Window(100)).entries
    assert {entry.id.partition("_")[0] for entry in entries} == {source.prefix for source in logs.SOURCES}
    return entries


def run_ids(page: str) -> set[str]:
    return set(re.findall(r"run_\w+", page))


def test_a_project_s_logs_name_everybody_s_entries(eventful: Embedded, user: str) -> None:
    page = eventful.browser("developer").get("/build/logs?kind=run")
    assert user in page and "user-43" not in page and "Whole project" in page
    assert page.count('class="log"') >= 3
    developer = eventful.people["developer"].id
    run(eventful, eventful.scene, developer)
    own = eventful.browser("developer").get(f"/build/logs?kind=run&user={developer}")
    assert re.search(rf'<small id="about-run_\w+">For {developer} · HTTP · You</small>', own)
    only = eventful.browser().get(f"/build/logs?user={user}")
    assert only.count('class="log"') == 1 and f'value="{user}"' in only
    run_id = run_ids(only).pop()
    opened = eventful.browser().get(f"/build/logs/{run_id}")
    assert f'href="/build/logs?user={user}"' in opened and "Run again" not in opened and "curl" in opened
    assert eventful.browser().get(f"/build/logs/export.jsonl?user={user}").count("\n") == 1


def test_a_member_sees_their_own_only(eventful: Embedded, user: str) -> None:
    browser = eventful.browser("member")
    for path in ("/build/logs", "/build/logs/news", "/build/logs/export.csv"):
        browser.get(path, code=404)
    page = browser.get(f"/logs?kind=run&user={user}")
    assert 'class="log"' in page and user not in page and "Whole project" not in page
    others = run_ids(eventful.browser().get(f"/build/logs?user={user}")).pop()
    browser.get(f"/logs/{others}", code=404)
    browser.get(f"/build/logs/{others}", code=404)
    assert "Nothing matches" in browser.get(f"/logs?id={others}")
    assert 'href="/logs/' in page and "Run again" in browser.get(f"/logs/{run_ids(page).pop()}")


def test_who_has_only_signed_in_finds_nothing_of_anybody(
    eventful: Embedded, user: str, of_others: Sequence[LogEntry]
) -> None:
    """A member who was never given anything: each kind, filter, count, id, file and page of an entry."""
    service, email = eventful.service, f"new-{len(eventful.people)}@example.com"
    eventful.people["new"] = users.create(service.store, service.clock, email=email, password="p" * 12, role="member")
    newcomer = eventful.browser("new")
    assert COUNTED.search(eventful.browser("developer").get("/build/logs"))
    asked = {
        "quiet=true",
        f"user={user}",
        *(f"kind={kind}" for kind in KINDS),
        *(f"status={each}" for each in STATUSES),
    }
    for entry in of_others:
        belongs = (entry.id, entry.component_key, entry.account_id, entry.trigger_id, entry.event_id)
        asked |= {f"id={each}" for each in belongs if each} | ({f"app={entry.app}"} if entry.app else set())
    for query in ("", *sorted(asked)):
        page = newcomer.get(f"/logs?{query}")
        assert 'class="log"' not in page and not COUNTED.search(page), query
        assert newcomer.get(f"/logs/export.csv?{query}").count("\n") == 1, "the headings only"
        assert newcomer.get(f"/logs/export.jsonl?{query}") == "", query
    for entry in of_others:
        newcomer.get(f"/logs/{entry.id}", code=404)
        newcomer.get(f"/build/logs/{entry.id}", code=404)
    for path in ("", "/news", "/export.csv", "/export.jsonl"):
        newcomer.get(f"/build/logs{path}", code=404)


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
