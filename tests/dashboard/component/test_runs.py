"""Running an action from its page: asked first, once, with its outcome; and again from the history."""

import json
import re
from typing import Any

import pytest

from tests.dashboard.fake_components import ACCOUNT, Studio, install
from tests.dashboard.trigger.trigger_page import news_url

URL = "/apps/tasks/actions/tasks-create-task"
P8 = json.dumps({"label": "Project 8", "value": "p8"})
FORM = {
    "d": ["tasks", "project_id", "title"], "p.tasks": "apn_000000x", "p.project_id": P8, "p.title": "Buy milk",
}  # fmt: skip
SURE = FORM | {"confirmed": "1", "once": "one"}


@pytest.fixture
def studio(stage: Any) -> Studio:
    made = install(stage.connect)
    stage.connect.add_account(stage.alice.id, "tasks", name="Ada")
    stage.connect.add_account("u_somebody", "tasks", name="Not yours")
    return made


def test_missing_answers_are_named_at_their_fields(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    answer = browser.send(f"{URL}/runs", {"d": ["tasks", "project_id", "title"], "confirmed": "1"})
    assert answer.status_code == 422
    assert "Choose “Account”." in answer.text
    assert "Choose “Project”." in answer.text
    assert "Fill in “Title”." in answer.text
    assert 'aria-describedby="f-title-err f-title-help"' in answer.text
    assert "Fill in 3 required fields." in answer.text
    part = browser.send(f"{URL}/runs", {"confirmed": "1"}, htmx=True)
    assert part.status_code == 422
    assert "<html" not in part.text
    assert not studio.ran


def test_somebody_elses_account_is_refused(stage: Any, studio: Studio) -> None:
    answer = stage.signed_in().send(f"{URL}/runs", SURE | {"p.tasks": "apn_000001x"})
    assert answer.status_code == 422
    assert "Choose one of your accounts for “Account”." in answer.text
    assert not studio.ran


def test_what_changes_data_is_asked_first(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    asked = browser.send(f"{URL}/runs", FORM)
    assert asked.status_code == 422
    assert "Nothing has run yet. Tick this to run it." in asked.text
    assert "Buy milk" in asked.text
    assert not studio.ran
    assert browser.send(f"{URL}/runs", SURE).status_code == 200
    assert len(studio.ran) == 1
    reading = browser.send("/apps/tasks/actions/tasks-list-tasks/runs", {"p.tasks": "apn_000000x"})
    assert "Succeeded" in reading.text
    assert 'id="confirm-run"' not in reading.text


def test_run_shows_result_exports_logs_and_request(stage: Any, studio: Studio) -> None:
    studio.run_answer = {
        "exports": {"$summary": "Created <b>", "id": "x-5"},
        "os": [{"k": "log", "ts": 1_700_000_000_000, "msg": "looked <i>around</i>"}],
    }
    page = stage.signed_in().send(f"{URL}/runs", SURE).text
    assert "Succeeded" in page
    assert "Created &lt;b&gt;" in page
    assert '<span class="k">&#34;id&#34;</span>: 5' in page
    assert "x-5" in page
    assert "looked &lt;i&gt;around&lt;/i&gt;" in page
    assert "$ACCESS_TOKEN" in page
    assert "os.environ[" in page
    assert "process.env.ACCESS_TOKEN" in page
    sent = studio.ran[-1]
    assert sent["id"] == "tasks-create-task"
    assert sent["dynamic_props_id"] == "dyp_p8"
    assert sent["configured_props"]["tasks"] == {"authProvisionId": "apn_000000x"}
    for token in [*stage.connect.tokens, *stage.connect.oauth]:
        assert token not in page


def test_failure_is_an_outcome_with_its_reason(stage: Any, studio: Studio) -> None:
    error = {"name": "Error", "message": "Tasks refused it.", "stack": "line 3"}
    studio.run_answer = {"os": [{"k": "error", "ts": 1, "err": error}], "ret": None, "exports": {}}
    part = stage.signed_in().send(f"{URL}/runs", SURE, htmx=True)
    assert part.status_code == 200
    assert "Failed" in part.text
    assert part.text.count("Tasks refused it.") >= 3  # outcome, log, status region
    assert "line 3" in part.text


def test_one_page_runs_once(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    browser.send(f"{URL}/runs", SURE)
    second = browser.send(f"{URL}/runs", SURE)
    assert (second.status_code, len(studio.ran)) == (409, 1)
    assert "This was sent already and ran once." in second.text
    assert browser.send(f"{URL}/runs", SURE, htmx=True).status_code == 409
    assert browser.send(f"{URL}/runs", SURE | {"once": "two"}).status_code == 200
    assert len(studio.ran) == 2


def test_fields_that_appear_stop_the_run(stage: Any, studio: Studio) -> None:
    p7 = json.dumps({"label": "Project 7", "value": "p7"})
    browser = stage.signed_in()
    answer = browser.send(f"{URL}/runs", SURE | {"p.project_id": p7})
    assert answer.status_code == 422
    assert "Fields updated: added Due date, Cost code." in answer.text
    assert "Fill in “Cost code”." in answer.text
    more = SURE | {"p.project_id": p7, "p.code": "100", "d": ["tasks", "project_id", "title", "due", "code"]}
    assert "“Cost code” must be at most 99." in browser.send(f"{URL}/runs", more).text
    assert browser.send(f"{URL}/runs", more | {"p.code": "99"}).status_code == 200
    assert studio.ran[-1]["configured_props"]["code"] == 99


def test_history_shows_fills_in_and_runs_again(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    browser.send(f"{URL}/runs", SURE)
    browser.send(f"{URL}/draft/reset", {})
    page = browser.get(URL).text
    assert "Earlier runs" in page and 'href="/logs?id=tasks-create-task"' in page
    assert "Created task 5" in page.split("Earlier runs")[1]
    row = re.search(r'hx-get="([^"]+run_0)"', page)
    assert row
    opened = browser.get(row[1], htmx=True).text
    assert f'href="{URL}/runs/run_0/again"' in opened and f'action="{URL}/runs/run_0/values"' in opened
    assert "Buy milk" in opened and "<html" not in opened
    assert "Buy milk" not in page.split("Earlier runs")[0].split("<form")[-1]
    assert "Created task 5" in browser.get(f"{URL}/runs/run_0").text
    question = browser.get(f"{URL}/runs/run_0/again").text
    assert "Run “Create task” again?" in question
    assert "Buy milk" in question
    once = re.search(r'name="once" value="([^"]+)"', question)
    assert once
    done = browser.send(f"{URL}/runs/run_0/again", {"once": once[1]})
    assert "Succeeded" in done.text
    assert studio.ran[1] == studio.ran[0]
    assert browser.send(f"{URL}/runs/run_0/again", {"once": once[1]}).status_code == 409
    assert browser.send(f"{URL}/runs/run_0/values", {}).status_code == 303
    again = browser.get(URL).text
    assert "Buy milk" in again
    assert ">Project 8</span>" in again
    assert browser.get(f"{URL}/runs/none").status_code == 404


def test_a_lost_secret_is_asked_for_again(stage: Any, studio: Studio) -> None:
    studio.add("tasks-secret", [ACCOUNT, {"name": "key", "type": "string", "label": "Key", "secret": True}])
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-secret"
    browser.send(f"{url}/runs", {"p.tasks": "apn_000000x", "p.key": "canary", "confirmed": "1"})
    del studio.runs[0]["configured_props"]["key"]
    question = browser.get(f"{url}/runs/run_0/again").text
    assert "Key is not kept after a run." in question
    assert "Use these values" in question


@pytest.mark.parametrize(
    ("refusal", "says"),
    [
        ((400, "title is not valid: It is too long."), "title is not valid: It is too long."),
        ((500, "x"), "The Connect service does not answer right now."),
    ],
)
def test_a_refusal_of_the_service_is_an_outcome(stage: Any, studio: Studio, refusal: Any, says: str) -> None:
    studio.refusal = refusal
    page = stage.signed_in().send(f"{URL}/runs", SURE)
    assert page.status_code == 200
    assert "Failed" in page.text
    assert says in page.text
    assert "Buy milk" in page.text


def test_a_refused_value_says_so_at_its_field(stage: Any, studio: Studio) -> None:
    studio.refusal, studio.refused_fields = (400, "title is not valid: Too long."), {"title": "Too long."}
    page = stage.signed_in().send(f"{URL}/runs", SURE)
    assert page.status_code == 422
    assert 'aria-describedby="f-title-err f-title-help"' in page.text
    assert "Too long." in page.text
    assert "Correct one field." in page.text
    assert "Buy milk" in page.text


@pytest.mark.parametrize(
    ("status", "badge", "says"),
    [("unknown", "Interrupted", "Nobody can tell."), ("running", "Running", "Reload the page in a moment.")],
)
def test_the_history_tells_runs_that_did_not_end(
    stage: Any, studio: Studio, status: str, badge: str, says: str
) -> None:
    studio.run_answer = {"status": status, "ok": False, "exports": {}, "error": "Nobody can tell.", "summary": None}
    browser = stage.signed_in()
    browser.send(f"{URL}/runs", SURE)
    assert badge in browser.get(URL).text.split("Earlier runs")[1]
    past = browser.get(f"{URL}/runs/run_0").text
    assert says in past and "Failed" not in past


def test_the_question_comes_after_the_answers_were_looked_at(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    wrong = browser.send(f"{URL}/runs", FORM | {"p.title": ""}, htmx=True)
    assert wrong.status_code == 422
    assert "data-open" not in wrong.text
    asked = browser.send(f"{URL}/runs", FORM, htmx=True)
    assert asked.status_code == 200
    assert 'data-open="confirm-run"' in asked.text
    assert "It runs as Ada." in asked.text
    assert not studio.ran


def test_a_run_whose_account_died_offers_to_reconnect_it(stage: Any, studio: Studio) -> None:
    stage.connect.accounts["apn_000000x"].update(dead=True, healthy=False, error="Tasks withdrew the access.")
    studio.refusal = (409, "The account needs you.")
    answer = stage.signed_in().send(f"{URL}/runs", SURE, htmx=True)
    assert re.search(r'name="reconnect"\s+value="apn_000000x">\s+Reconnect Ada', answer.text)


def test_a_run_whose_account_lacks_scopes_offers_to_ask_for_them(stage: Any, studio: Studio) -> None:
    err = {"name": "HttpError", "message": "No.", "account_id": "apn_000000x", "lacking_scopes": ["gist", "<b>"]}
    studio.run_answer = {"exports": {}, "os": [{"k": "error", "ts": 1, "err": err}], "ret": None}
    page = stage.signed_in().send(f"{URL}/runs", SURE, htmx=True).text
    assert re.search(r'name="more" value="1">\s+<button[^>]*name="reconnect"\s+value="apn_000000x">', page)
    assert "Reconnect Ada and ask for gist, &lt;b&gt;" in page
    studio.run_answer = {"exports": {}, "os": [{"k": "error", "ts": 1, "err": err | {"account_id": "apn_other"}}]}
    assert "ask for gist" not in stage.signed_in().send(f"{URL}/runs", SURE, htmx=True).text


TASKS = [{"id": number, "title": f"Task {number}", "by": {"name": "<b>Ada</b>"}} for number in range(1, 4)]


def read(studio: Studio, **answer: Any) -> None:
    studio.add("tasks-list-tasks", [ACCOUNT], annotations={"readOnlyHint": True})
    studio.run_answer = answer


def rows(page: str) -> list[list[str]]:
    """The texts of the table of a page."""
    table = page.partition("<table>")[2].partition("</table>")[0]
    return [re.findall(r"<t[hd][^>]*>\s*([^<]*?)\s*</t[hd]>", row) for row in table.split("<tr>")[1:]]


def test_a_list_is_a_table_whose_columns_are_remembered(stage: Any, studio: Studio) -> None:
    read(studio, ret=TASKS)
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-list-tasks"
    page = browser.send(f"{url}/runs", {"p.tasks": "apn_000000x"}).text
    assert rows(page)[:2] == [["by.name", "id", "title"], ["&lt;b&gt;Ada&lt;/b&gt;", "1", "Task 1"]]
    assert "<b>Ada" not in page and 'id="result-json"' in page and "3 rows" in page
    chosen = browser.send(f"{url}/runs/run_0/columns", {"column": ["title", "gone"]})
    assert chosen.location.endswith("/runs/run_0#result")
    assert rows(browser.get(url).text)[:2] == [["title"], ["Task 1"]]
    part = browser.send(f"{url}/runs/run_0/columns", {"column": ["id"]}, htmx=True).text
    assert rows(part)[0] == ["id"] and "<html" not in part
    assert rows(browser.send(f"{url}/runs", {"p.tasks": "apn_000000x"}, htmx=True).text)[0] == ["id"]


def test_a_result_is_saved_whole(stage: Any, studio: Studio) -> None:
    read(studio, ret=TASKS)
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-list-tasks"
    browser.send(f"{url}/runs", {"p.tasks": "apn_000000x"})
    saved = browser.get(f"{url}/runs/run_0/result.csv")
    assert saved.headers["Content-Disposition"] == "attachment; filename=tasks-list-tasks.csv"
    assert (saved.mimetype, saved.headers["X-Content-Type-Options"]) == ("text/csv", "nosniff")
    assert saved.data.decode("utf-8-sig").splitlines()[:2] == ["by.name,id,title", "<b>Ada</b>,1,Task 1"]
    assert browser.get(f"{url}/runs/run_0/result.json").json == TASKS
    assert browser.get(f"{url}/runs/run_9/result.csv").status_code == 404


def test_what_is_too_large_for_the_history_is_kept_as_a_file(stage: Any, studio: Studio) -> None:
    read(studio, ret=[{"n": number, "text": "x" * 400} for number in range(1240)])
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-list-tasks"
    page = browser.send(f"{url}/runs", {"p.tasks": "apn_000000x"}).text
    assert "First 200 of 1,240 shown." in page and len(page) < 500_000
    ((name, content),) = studio.files.values()
    assert name == "result.json" and len(json.loads(content)) == 1240
    assert f"{url}/runs/run_0/result.csv?whole=file_1" in page


def test_an_object_is_its_fields_and_what_it_holds_is_never_markup(stage: Any, studio: Studio) -> None:
    evil = "<script>alert(1)</script>"
    read(studio, ret={evil: evil, "page": "https://a.test/x?a=1&b=2", "bad": "javascript:alert(1)", "empty": None})
    page = stage.signed_in().send("/apps/tasks/actions/tasks-list-tasks/runs", {"p.tasks": "apn_000000x"}).text
    assert evil not in page and "&lt;script&gt;" in page
    assert '<a class="link" href="https://a.test/x?a=1&amp;b=2" rel="noopener noreferrer nofollow"' in page
    assert "<strong>a.test</strong>" in page and 'href="javascript:' not in page


def test_files_of_a_run_are_downloaded(stage: Any, studio: Studio) -> None:
    key = "1day/proj_Fake1/development/stash_x/u/file_7/<i>.png"
    upload = {"localPath": "<i>.png", "path": "<i>.png", "s3Key": key, "get_url": "https://a.test"}
    read(studio, ret=None, exports={"$filestash_uploads": [upload, {"path": "broken"}]})
    studio.components["tasks-list-tasks"]["stash"] = "optional"
    page = stage.signed_in().send("/apps/tasks/actions/tasks-list-tasks/runs", {"p.tasks": "apn_000000x"}).text
    assert 'src="/files/file_7"' in page and 'href="/files/file_7"' in page
    assert "&lt;i&gt;.png" in page and "<i>.png" not in page and "filestash_uploads" not in page
    assert studio.ran[0]["stash_id"] == "NEW"


def test_runs_from_elsewhere_are_announced_below_the_form(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    browser.send(f"{URL}/runs", SURE)
    url = news_url(browser.get(URL).text)
    assert url.startswith(f"{URL}/runs/news?") and browser.get(url, htmx=True).status_code == 204
    studio.runs.insert(0, studio.runs[0] | {"id": "run_1", "started_at": "2025-01-01T00:00:01Z"})
    part = browser.get(url, htmx=True).text
    assert "Show 1 new entry" in part and f'href="{URL}"' in part
