"""The pages of components without JavaScript: their lists, connecting another account, and a trigger's own."""

from typing import Any

from tests.dashboard.component.task_form import URL, filled
from tests.dashboard.fake_components import Studio


def test_lists_with_filter_and_badges(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    actions = browser.get("/apps/tasks/actions").text
    assert f'href="{URL}"' in actions
    assert "Changes data" in actions
    assert "Read-only" in actions
    assert 'href="https://docs.example.com/"' in actions
    part = browser.get("/apps/tasks/actions?q=list", htmx=True)
    assert "<html" not in part.text
    assert URL not in part.text
    triggers = browser.get("/apps/tasks/triggers").text
    assert "Polling" in triggers
    assert "Instant" in triggers
    assert "Nothing matches" in browser.get("/apps/tasks/triggers?q=<b>").text
    assert "No actions yet" in browser.get("/apps/github/actions").text
    assert 'href="/apps/tasks/actions"' in browser.get("/apps/tasks").text


def test_connect_another_comes_back_with_the_draft(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    answer = browser.send(f"{URL}/accounts", filled(connect="tasks"))
    assert answer.status_code == 303
    assert "app=tasks" in answer.headers["Location"]
    made = list(stage.connect.tokens.values())[-1]
    assert made["success_redirect_uri"] == f"http://localhost{URL}"
    new = stage.connect.add_account(stage.alice.id, "tasks", name="Second")
    back = browser.get(f"{URL}?account_id={new['id']}")
    assert back.status_code == 303
    page = browser.get(back.headers["Location"]).text
    assert "Second is connected and chosen." in page
    assert f'<option value="{new["id"]}" selected>' in page
    assert "Buy milk" in page
    by_htmx = browser.send(f"{URL}/accounts", filled(connect="tasks"), htmx=True)
    assert "connectLink" in by_htmx.headers["HX-Redirect"]
    assert "Nothing was connected." in browser.get(f"{URL}?error=access_denied").text


def test_trigger_is_filled_in_and_never_run(stage: Any, studio: Studio) -> None:
    page = stage.signed_in().get("/apps/tasks/triggers/tasks-new-task").text
    assert 'action="/apps/tasks/triggers/tasks-new-task/deployment"' in page
    assert "Patchbay looks at Tasks on the schedule you choose" in page
    assert "Run action" not in page
    assert 'value="15"' in page  # 900 seconds, in minutes
    assert stage.signed_in().send("/apps/tasks/triggers/tasks-new-task/runs", {}).status_code == 404
