"""The pages of components without JavaScript: their lists, connecting another account, and a trigger's own."""

import io
import re
from typing import Any

import pytest

from tests.dashboard.component.task_form import URL, filled, picked
from tests.dashboard.fake_components import ACCOUNT, FILES, PROJECT, Studio
from webapp import body_limits
from webapp.kit.clock import iso


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
    assert "Patchbay checks Tasks on the schedule you choose" in page
    assert "Run action" not in page
    assert 'value="15"' in page  # 900 seconds, in minutes
    assert stage.signed_in().send("/apps/tasks/triggers/tasks-new-task/runs", {}).status_code == 404


def test_another_account_is_named_where_the_action_is_run(stage: Any, studio: Any) -> None:
    stage.connect.add_account(stage.alice.id, "tasks", name="Second")
    page = stage.signed_in().send(f"{URL}/fields", filled(**{"p.tasks": "apn_000001x"}), htmx=True).text
    assert re.search(r'hx-target="#runs-as"[^>]*>\s*Runs as Second', page)


def test_a_broken_account_is_reconnected_from_the_form(stage: Any, studio: Any) -> None:
    stage.connect.accounts["apn_000000x"].update(dead=True, healthy=False, error="Tasks withdrew the access.")
    browser = stage.signed_in()
    page = browser.get(URL).text
    assert "Tasks withdrew the access." in page
    assert re.search(r'name="reconnect"\s+value="apn_000000x"', page)
    answer = browser.send(f"{URL}/accounts", filled(reconnect="apn_000000x"))
    assert answer.location.endswith("&app=tasks&accountId=apn_000000x")
    assert "accountId" not in browser.send(f"{URL}/accounts", filled(reconnect="apn_999999x")).location
    more = browser.send(f"{URL}/accounts", filled(reconnect="apn_000000x", more="1"))
    assert more.location.endswith("&accountId=apn_000000x&action=tasks-create-task")


def test_the_account_that_works_is_selected_or_the_newest_with_its_sentence(stage: Any, studio: Any) -> None:
    first = stage.connect.accounts["apn_000000x"]
    now = stage.connect.clock()
    stage.connect.add_account(
        stage.alice.id,
        "tasks",
        name="Newer",
        healthy=False,
        error="Tasks took too long to answer.",
        created_at=iso(now),
    )
    page = stage.signed_in().get(URL).text
    assert re.search(r'value="apn_000000x" selected', page)
    assert "Tasks took too long to answer." not in page
    assert "Newer · Retrying" in page and "· Working" not in page, "only what does not work says so"
    first.update(dead=True, healthy=False, error="Tasks withdrew the access.")
    page = stage.signed_in().get(URL).text
    assert re.search(r'value="apn_000001x" selected', page)
    assert "Newer: Retrying" in page and "Tasks took too long to answer." in page
    assert "Tasks withdrew the access." not in page and 'name="reconnect"' not in page


def test_new_fields_stand_open(stage: Any, studio: Any) -> None:
    browser = stage.signed_in()
    plain = {name: text for name, text in filled().items() if name not in ("p.urgent", "p.labels")}
    page = browser.send(f"{URL}/fields", plain, htmx=True).text
    assert "Fields updated: added Due date" in page
    assert re.search(r'id="optional-fields"\s+open', page)
    again = browser.send(f"{URL}/fields", plain, htmx=True).text
    assert not re.search(r'id="optional-fields"\s+open', again)


def test_a_number_out_of_range_says_so_and_keeps_the_fields(stage: Any, studio: Any) -> None:
    number = {"name": "more", "type": "integer", "label": "More", "reloadProps": True, "max": 5}
    studio.add("tasks-many", [ACCOUNT, PROJECT, number])
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-many"
    form = {"d": ["tasks", "project_id", "more"], "p.tasks": "apn_000000x", "p.project_id": picked("P", "p7")}
    assert "added Due date" in browser.send(f"{url}/fields", form | {"p.more": "2"}, htmx=True).text
    wrong = browser.send(f"{url}/fields", form | {"p.more": "9"}, htmx=True).text
    assert "“More” must be at most 5." in wrong
    assert "Fields updated" not in wrong
    assert "Due date" in wrong
    assert "Due date" in browser.send(f"{url}/fields", form | {"p.more": "x"}, htmx=True).text
    left_out = browser.send(f"{url}/fields", form | {"p.more": ""}, htmx=True).text
    assert 'class="err"' not in left_out  # nothing chosen yet is no mistake
    assert len(studio.reloads) == 1


def test_an_action_that_is_opened_again_shows_its_last_run(stage: Any, studio: Any) -> None:
    browser = stage.signed_in()
    assert "No runs yet" in browser.get(URL).text
    browser.send(f"{URL}/runs", filled(confirmed="1", **{"p.project_id": picked("Project 8", "p8")}))
    page = browser.get(URL).text
    assert "Created task 5" in page
    assert re.search(r"Ran\s+<time", page)
    studio.history = False
    assert "Ran" not in browser.get(URL).text, "what cannot be read is not shown"


def test_a_component_from_npm_says_so(stage: Any, studio: Studio) -> None:
    studio.components["tasks-list-tasks"]["patchbay"] = {"piece": {"package": "@acme/piece", "version": "1.0.0"}}
    browser = stage.signed_in()
    assert "Added from npm: @acme/piece, 1.0.0" in browser.get("/apps/tasks/actions/tasks-list-tasks").text
    assert "Added from npm" not in browser.get(URL).text


@pytest.mark.parametrize(
    ("extensions", "told"),
    [
        ({"piece": None, "checked": True, "described_on": "2026-08-21"}, "’s description of 2026-08-21"),
        (
            {"piece": None, "checked": True, "checked_against": "sdk", "described_on": "2026-10-19"},
            "Checked against an SDK for",
        ),
        ({"piece": None, "checked": False, "described_on": None}, "Not checked by machine"),
        (
            {"piece": None, "tag": "issues", "checked": False, "described_on": None},
            "’s own description of its API, not curated",
        ),
        (None, ""),
    ],
)
def test_a_component_says_what_its_requests_were_checked_against(
    stage: Any, studio: Studio, extensions: Any, told: str
) -> None:
    if extensions:
        studio.components["tasks-list-tasks"]["patchbay"] = extensions
    page = stage.signed_in().get("/apps/tasks/actions/tasks-list-tasks").text
    assert told in page
    assert ("Checked against" in page, "Not checked" in page) == ("of 2026" in page, told.startswith("Not"))


def test_a_file_is_sent_at_once_and_removed_again(stage: Any, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limits, "FILE", 100)
    studio.add("tasks-attach", FILES)
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-attach"

    def send(name: str, size: int = 3, prop: str = "file") -> Any:
        data: Any = {"file": (io.BytesIO(b"x" * size), name)}
        return browser.send(f"{url}/files/{prop}", data, htmx=True)

    line = send("<b>.pdf")
    assert line.status_code == 200 and "&lt;b&gt;.pdf · 3\xa0B" in line.text and "<b>" not in line.text
    assert re.search(r'data-remove-file="1day/[^"]*/file_1/', line.text)
    for refused, said in ((send("a", 0), "“a” is empty."), (browser.send(f"{url}/files/file", {}), "Choose one file")):
        assert refused.status_code == 400 and said in refused.text
    assert send("a", 101).status_code == 413
    assert send("a", prop="tasks").status_code == 404
    assert browser.client.post(f"{url}/files/file", data={"file": (io.BytesIO(b"x"), "a")}).status_code == 400
    assert list(studio.files) == ["file_1"], "nothing else was kept"
    assert browser.send(f"{url}/removed_files", {"key": "1day/p/d/s/u/file_1/x.pdf"}, htmx=True).status_code == 204
    assert browser.send(f"{url}/removed_files", {"key": "1day/p/d/s/u/file_1/x.pdf"}, htmx=True).status_code == 204
    assert not studio.files


def test_a_trigger_takes_the_address_of_a_file(stage: Any, studio: Studio) -> None:
    studio.add("tasks-watch", FILES, kind="source")
    page = stage.signed_in().get("/apps/tasks/triggers/tasks-watch").text
    assert 'type="file"' not in page and "The address of a file." in page
