"""The pages for people, by their forms."""

import requests

from tests.sandbox.conftest import CLIENT, Served
from webapp.sandbox.store import Window


def test_every_page_opens(served: Served) -> None:
    for path in ("/", "/tasks", "/tasks?project=prj_005&page=7", "/tasks?page=x", "/accounts", "/keys", "/receiver"):
        answer = requests.get(f"{served.url}{path}", timeout=10)
        assert answer.status_code == 200, path
        assert "<script" not in answer.text
        assert " style=" not in answer.text
    assert requests.get(f"{served.url}/static/css/sandbox.css", timeout=10).status_code == 200
    icon = requests.get(f"{served.url}/icon.svg", timeout=10)
    assert icon.headers["Content-Type"].startswith("image/svg+xml")


def test_keys_page_shows_keys_that_do_what_it_says(served: Served) -> None:
    page = requests.get(f"{served.url}/keys", timeout=10).text
    keys = served.sandbox.keys
    assert all(key.secret in page for key in (*keys.working, keys.disabled))
    assert len({key.secret for key in (*keys.working, keys.disabled)}) == 4
    mistyped = page.split('data-key="mistyped">')[1].split("<")[0]
    assert served.api("GET", "me", headers={"X-Api-Key": mistyped}).status_code == 401


def test_task_by_form_with_custom_fields(served: Served) -> None:
    form = {"project": "prj_003", "person": "per_grace", "title": "<b>Bold</b>", "due": "2026-12-01"}
    fields = {one["key"]: one for one in served.api("GET", "projects/prj_003/fields").json()["data"]}
    assert fields.keys() == {"supplier", "indoors"}
    page = "/tasks?project=prj_003"
    refused = served.submit(page, "/tasks", **form)
    assert refused.status_code == 422
    assert "Supplier: This project needs Supplier." in refused.text
    filled = form | {"field.supplier": "Miller", "field.indoors": "on"}
    assert served.submit(page, "/tasks", **filled).status_code == 303
    task = served.sandbox.tasks.search(Window()).items[0]
    assert (task.person_id, task.due, task.fields) == (
        "per_grace",
        "2026-12-01",
        {"supplier": "Miller", "indoors": True},
    )
    shown = requests.get(f"{served.url}{page}", timeout=10).text
    assert "&lt;b&gt;Bold&lt;/b&gt;" in shown
    assert "<b>Bold</b>" not in shown
    assert "indoors: yes" in shown
    done = served.submit(page, f"/tasks/{task.id}/done", back="project")
    assert (done.status_code, done.headers["Location"]) == (303, "/tasks?project=prj_003")
    assert served.sandbox.tasks.search(Window()).items[0].done is True


def test_numbers_in_the_form_are_numbers(served: Served) -> None:
    form = {"project": "prj_004", "person": "per_ada", "title": "t"}
    keys = {one["key"] for one in served.api("GET", "projects/prj_004/fields").json()["data"]}
    assert "hours" in keys
    for text, status in (("2.5", 303), ("3", 303), ("many", 422), ("1e400", 422), ("nan", 422)):
        answer = served.submit("/tasks?project=prj_004", "/tasks", **form, **{"field.hours": text})
        assert answer.status_code == status, text


def test_accounts_page_lists_and_revokes(served: Served) -> None:
    token = served.connect(person="per_linus")
    assert served.sandbox.client.name in requests.get(f"{served.url}/accounts", timeout=10).text
    [grant] = served.sandbox.grants.live(CLIENT[0])
    assert grant.person.id == "per_linus"
    bare = requests.post(f"{served.url}/accounts/{grant.id}/revoke", timeout=10)
    assert bare.status_code == 400
    assert served.api("GET", "me", token["access_token"]).status_code == 200
    assert served.submit("/accounts", f"/accounts/{grant.id}/revoke").status_code == 303
    assert served.api("GET", "me", token["access_token"]).status_code == 401
    assert served.refresh(token["refresh_token"]).json()["error"] == "invalid_grant"
    assert served.submit("/receiver", "/accounts/unknown/revoke").status_code == 303


def test_behaviour_of_a_live_account_can_be_changed(served: Served) -> None:
    token = served.connect()
    [grant] = served.sandbox.grants.live(CLIENT[0])
    path = f"/accounts/{grant.id}/behaviour"
    assert served.submit("/accounts", path, behaviour="trouble").status_code == 303
    assert served.api("GET", "me", token["access_token"]).status_code == 503
    assert served.submit("/accounts", path, behaviour="normal").status_code == 303
    assert served.api("GET", "me", token["access_token"]).status_code == 200
    assert served.submit("/accounts", path, behaviour="wild").status_code == 400
