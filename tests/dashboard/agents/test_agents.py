"""Which assistant the address is for.

What agents did and did not get to do, newest first.

A call in words, whatever its values are.

The Agents page: what agents may do is chosen there, and what waits is answered there, by its person alone.
"""

import re
from collections.abc import Callable
from unittest.mock import patch

import pytest

from tests.dashboard.embedded import BASE, Embedded
from tests.service.domain.agents.planted import plant_agent, plant_approval
from webapp.dashboard.agents import agents
from webapp.dashboard.agents.agents import HOSTS, counted, host_of
from webapp.dashboard.client.models.agents import Approval as ListedApproval
from webapp.dashboard.client.models.agents import Counts
from webapp.dashboard.client.models.runs import Run as ListedRun
from webapp.errors import NotFound
from webapp.service.catalog.index import Catalog
from webapp.service.components.tool_names import ToolNames
from webapp.service.domain.agents import approvals, permissions
from webapp.service.domain.agents.approvals import Approval
from webapp.service.domain.components import runs
from webapp.service.domain.components.runs import Run
from webapp.service.domain.projects import external_users

RUN = {"started_at": "2026-11-20T10:00:00Z", "status": "succeeded", "summary": "Found it", "agent": "Helper", "id": "r"}
CALL = {"id": "apr_1", "agent": "Helper", "component_key": "app-do", "created_at": "2026-11-20T09:00:00Z"}
Ask = Callable[..., Approval]
HOSTILE = "<img src=x onerror=alert(1)>"


def test_an_unknown_host_is_any() -> None:
    assert host_of("editor").name == "editor" and host_of("none-such") == HOSTS[0]


def test_runs_and_calls_are_told_together() -> None:
    run = ListedRun.model_validate(RUN)
    refused = ListedApproval.model_validate({**CALL, "state": "refused", "decided_at": "2026-11-20T11:00:00Z"})
    expired, waiting = (ListedApproval.model_validate({**CALL, "state": state}) for state in ("expired", "waiting"))
    with patch.object(agents, "known_component", side_effect=NotFound):
        told = agents.entries([run], [refused, expired, waiting], 5)
        assert agents.entries([run], [refused], 1) == told[:1]
    assert [(entry.sentence, entry.tone) for entry in told] == [
        ("You refused: app-do", "warn"),
        ("Found it", "ok"),
        ("Nobody answered in time: app-do", "warn"),
    ]


def test_times_are_read_however_they_are_written() -> None:
    times = [agents.entries_of_runs([ListedRun.model_validate({**RUN, "started_at": at})])[0].at for at in (0, "never")]
    assert times == ["1970-01-01T00:00:00.000Z", ""]


def test_values_are_shown_under_the_labels_of_their_props(studio: Embedded, ask: Callable[..., Approval]) -> None:
    approval = ask(
        "sandbox-create-task",
        title="Call Nadia",
        labels=["a", "b"],
        urgent=True,
        empty="",
        unknown={"x": 1},
    )
    shown = studio.browser().get("/agents").partition(f'id="{approval.id}"')[2].partition("<form")[0]
    assert "Title: Call Nadia" in shown and "authProvisionId" not in shown and "<dt>empty" not in shown
    assert "&#34;a&#34;," in shown and "<dt>unknown</dt>" in shown


def test_a_value_is_shown_as_it_is(studio: Embedded, ask: Callable[..., Approval]) -> None:
    ask(
        "sandbox-create-task",
        title={"__lv": {"label": "Safe", "value": "Wipe"}},
        notes={"authProvisionId": "x", "q": "Hide"},
        labels=["a\u202eb"],
    )
    ask("sandbox-create-task", title="t" * 20_001)
    page = studio.browser().get("/agents")
    assert "Wipe" in page and "Hide" in page and "a\\u202eb" in page and "\u202e" not in page
    assert "… and 1 more characters" in page


def test_a_long_call_is_cut_in_the_line_only(studio: Embedded, ask: Callable[..., Approval]) -> None:
    ask("sandbox-create-task", title="long " * 200)
    page = studio.browser().get("/agents")
    assert "…</summary>" in page and "long " * 150 in page


def test_an_action_that_is_gone_goes_by_its_key(studio: Embedded, ask: Callable[..., Approval]) -> None:
    ask("sandbox-gone", title="x")
    assert "<b>sandbox-gone</b>" in studio.browser().get("/agents")


def state(studio: Embedded, approval: Approval) -> str:
    return approvals.current(studio.service, studio.service.store, approval).state


def level(studio: Embedded, key: str) -> str:
    component = studio.service.catalog.component(key)
    assert component is not None
    return permissions.level(studio.service, studio.scene, studio.people["owner"].id, component)


def test_a_first_visit_shows_the_address(studio: Embedded) -> None:
    page = studio.browser("member").get("/agents")
    assert f"<code>{BASE}/mcp</code>" in page and "No agents connected yet" in page and "No apps connected" in page
    assert "Send a Connect token" in studio.browser("member").get("/agents?host=code")


def test_what_waits_is_shown_safely_and_answered(studio: Embedded, ask: Ask) -> None:
    browser, approval = studio.browser(), ask(task_id=HOSTILE)
    page = browser.get("/agents")
    assert "<b>Desk Helper</b> wants to do this: <b>Delete task</b>, with Sandbox Tasks" in page
    assert HOSTILE not in page and "&lt;img src=x onerror=alert(1)&gt;" in page and "canary-access-token" not in page
    assert "You approved it." in browser.follow(f"/agents/approvals/{approval.id}", {"answer": "yes"})
    assert state(studio, approval) == "approved"
    assert "does not wait" in browser.follow(f"/agents/approvals/{approval.id}", {"answer": "no"})


def test_a_no_is_kept_and_reported(studio: Embedded, ask: Ask) -> None:
    browser, approval = studio.browser(), ask()
    browser.follow(f"/agents/approvals/{approval.id}", {"answer": "no"})
    assert state(studio, approval) == "refused"
    assert "You refused: Delete task" in browser.get("/agents")


def test_nobody_else_sees_or_answers_it(studio: Embedded, ask: Ask) -> None:
    approval, member = ask(), studio.browser("member")
    assert approval.id not in member.get("/agents")
    answer = member.send(f"/agents/approvals/{approval.id}", {"answer": "yes"})
    absent = member.send("/agents/approvals/apr_none", {"answer": "yes"})
    assert answer.status_code == absent.status_code == 404 and state(studio, approval) == "waiting"


def test_a_visitor_with_the_link_answers_nothing(studio: Embedded, ask: Ask) -> None:
    approval = ask()
    visitor = studio.app.test_client()
    answer = visitor.post(f"/agents/approvals/{approval.id}", base_url=BASE, data={"answer": "yes"})
    assert answer.status_code == 303 and "/sign-in" in answer.headers["Location"]
    assert state(studio, approval) == "waiting"


def test_an_open_page_hears_of_new_calls(studio: Embedded, ask: Ask) -> None:
    browser = studio.browser()
    known = re.search(r"/agents/waiting\?known=(\w+)", browser.get("/agents"))
    assert known
    path = f"/agents/waiting?known={known[1]}"
    assert browser.get(path, htmx=True, code=204) == ""
    approval = ask()
    assert approval.id in browser.get(path, htmx=True)


@pytest.mark.usefixtures("account")
def test_levels_are_chosen_with_and_without_a_script(studio: Embedded) -> None:
    browser = studio.browser()
    assert "Find tasks" not in browser.get("/agents") and "Find tasks" in browser.get("/agents?app=sandbox")
    form = {"app": "sandbox", "action": "sandbox-find-tasks", "level": "off"}
    assert "1 off" in browser.follow("/agents/permissions", form)
    assert level(studio, "sandbox-find-tasks") == "off"
    part = browser.send("/agents/permissions", {"app": "sandbox", "level": "ask"}, htmx=True).text
    assert "<html" not in part and "Reset to defaults" in part
    assert level(studio, "sandbox-find-tasks") == "ask"
    browser.follow("/agents/permissions", {"app": "sandbox"})
    assert (level(studio, "sandbox-find-tasks"), level(studio, "sandbox-delete-task")) == ("on", "ask")
    assert browser.send("/agents/permissions", {"app": "sandbox", "level": "maybe"}).status_code == 400
    assert browser.send("/agents/permissions", {"app": "none-such", "level": "on"}).status_code == 404


def test_an_agent_is_ended_and_let_in_again(studio: Embedded) -> None:
    agent = plant_agent(studio.service, studio.scene, studio.people["owner"].id, HOSTILE)
    browser = studio.browser()
    page = browser.follow(f"/agents/{agent.id}/end")
    assert "You revoked its access." in page and HOSTILE not in page
    assert "You revoked its access." not in browser.follow(f"/agents/{agent.id}/let-in")
    assert studio.browser("member").send(f"/agents/{agent.id}/end").status_code == 404


def test_what_agents_ran_is_reported_with_their_names(studio: Embedded) -> None:
    owner = studio.people["owner"].id
    for agent, summary in (("Desk Helper", "Found 3 tasks"), (None, "Ran by hand")):
        component = studio.service.catalog.component("sandbox-find-tasks")
        assert component is not None
        facts = (owner, component.id, component.key, component.version, "sandbox", studio.service.clock())
        run = Run(*facts, ok=True, summary=summary, agent=agent)
        runs.begin(studio.service, studio.scene, run, {"configured_props": {}})
        runs.end(studio.service, studio.scene, run, outputs={"ret": None})
    for path in ("/agents", "/agents/history"):
        page = studio.browser().get(path)
        assert "Found 3 tasks" in page and "Desk Helper" in page and "Ran by hand" not in page
    assert "Nothing yet" in studio.browser("member").get("/agents/history")


def test_actions_without_an_app_are_chosen_as_those_of_apps(studio: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = studio.browser()
    assert "Without an app" not in browser.get("/agents")
    names = ToolNames([("sandbox-find-tasks", None)])
    monkeypatch.setattr(Catalog, "tool_names", lambda _: names)
    page = browser.get("/agents?app=-")
    assert "Nothing to connect" in page and "Find tasks" in page
    assert "Reset to defaults" in browser.follow("/agents/permissions", {"app": "-", "level": "off"})
    user = external_users.find(studio.service.store, studio.scene, studio.people["owner"].id)
    assert permissions.of_user(studio.service.store, user).apps[""] == "off"
    part = browser.send("/agents/permissions", {"app": "-", "level": ""}, htmx=True).text
    assert "<html" not in part and 'aria-expanded="true"' in part


def test_the_menu_of_any_page_counts_what_waits(studio: Embedded) -> None:
    browser, words = studio.browser("developer"), ">1 needs you</span>"
    link = '<span class="n bad" hx-get="/agents/waiting/count" hx-trigger="load, every 20s"'
    agent = plant_agent(studio.service, studio.scene, studio.people["developer"].id)
    page = browser.get("/logs")
    assert link in page and words not in page
    plant_approval(studio.service, studio.scene, agent)
    part = browser.get("/agents/waiting/count", htmx=True)
    assert 'hx-trigger="every 20s"' in part and words in part
    assert words in browser.get("/logs"), "it is known now"
    assert words not in studio.browser("member").get("/agents/waiting/count", htmx=True)


def test_counts_in_words() -> None:
    assert counted(Counts(on=2, ask=1, off=1)) == "2 on, 1 asks, 1 off"
    assert counted(Counts(ask=3)) == "3 ask"
