"""What a component's page shows: what is needed first, text only as text, and what is there when the rest is not."""

from dataclasses import replace
from typing import Any

from tests.dashboard.component.task_form import URL, filled, picked
from tests.dashboard.fake_components import CREATE, Studio
from webapp.dashboard.client.models.accounts import App
from webapp.dashboard.client.models.components import Component
from webapp.dashboard.client.models.triggers import Trigger
from webapp.dashboard.client.overview import Overview
from webapp.dashboard.component import forms, rendering
from webapp.dashboard.component.drafts import DynamicProps
from webapp.dashboard.component.forms import ComponentForm


def test_page_asks_for_what_is_needed_first(stage: Any, studio: Studio) -> None:
    page = stage.signed_in().get(URL).text
    assert '<option value="apn_000000x" selected>Ada&#39;s tasks' in page
    order = [page.index(f'value="{name}"') for name in ("tasks", "project_id", "title")]
    assert order == sorted(order)
    assert page.index("2 optional fields") > order[-1]
    assert "Connect another" in page
    assert "Load options" in page
    assert '<a class="link" href="https://docs.example.com/"' in page
    assert 'value="db"' not in page
    for forbidden in (" style=", " onclick=", "hx-on", "javascript:", "<script>", "js:"):
        assert forbidden not in page
    assert not studio.configured


def test_hostile_names_labels_and_options_are_only_text(stage: Any, studio: Studio) -> None:
    nasty = '"><script>alert(1)</script>'
    picks = {"label": nasty, "value": nasty}
    studio.add("tasks-nasty", [
        {"name": nasty, "type": "string", "label": nasty, "description": f"[x](javascript:alert(1)) {nasty}"},
        {"name": "o", "type": "string", "label": nasty, "options": [picks, "b", 3, None, {}]},
        {"name": "far", "type": "string", "label": nasty, "remoteOptions": True},
        {"name": "note", "type": "alert", "content": f"{nasty} [a](https://a.test/\"onclick=)"},
        {"name": "weird", "type": nasty, "label": nasty, "min": nasty, "default": {"a": [nasty]}},
    ], name=nasty, description=nasty)  # fmt: skip
    studio.options["far"] = {"options": [{"label": nasty, "value": nasty}], "context": {"a": nasty}}
    browser, url = stage.signed_in(), "/apps/tasks/actions/tasks-nasty"
    pages = [
        browser.get(url).text,
        browser.send(f"{url}/options/far", {}).text,
        browser.get("/apps/tasks/actions").text,
    ]
    studio.run_answer = {"ret": {nasty: nasty}, "os": [{"k": "error", "err": {"name": nasty, "message": nasty}}]}
    form = {f"p.{nasty}": nasty, "p.o": picked(nasty, nasty), "p.far": picked(nasty, nasty), "p.weird": "1",
            "confirmed": "1"}  # fmt: skip
    pages.append(browser.send(f"{url}/runs", form).text)
    assert studio.ran[-1]["configured_props"] == {nasty: nasty, "o": nasty, "far": nasty, "weird": 1}
    for page in pages:
        assert "<script>alert" not in page
        assert 'href="javascript' not in page
        assert '"onclick' not in page


def test_service_down_is_a_state_of_its_own(stage: Any, studio: Studio) -> None:
    browser = stage.signed_in()
    browser.get(URL)
    stage.connect.down = True
    page = browser.get(URL)
    assert page.status_code == 503
    assert "This form can’t be shown right now" in page.text
    part = browser.send(f"{URL}/options/project_id", filled(), htmx=True)
    assert "does not answer right now" in part.text, part.text


def test_page_without_extensions_stands(stage: Any, studio: Studio) -> None:
    stage.connect.extensions, studio.history = False, False
    page = stage.signed_in().get(URL)
    assert page.status_code == 200
    assert "Earlier runs" not in page.text
    assert CREATE[2]["label"] in page.text


def test_addresses_stand_below_the_page_and_name_the_trigger_that_is_edited(stage: Any) -> None:
    component = Component.model_validate({"key": "~/hello", "component_type": "source"})
    app = App.model_validate({"name_slug": "tasks"})
    form = ComponentForm(app, component, {}, DynamicProps(), Overview((), 0, ""))
    edited = replace(form, trigger=Trigger.model_validate({"id": "dc_1"}))
    with stage.request():
        assert rendering.address(form) == "/apps/tasks/triggers/~/hello"
        assert rendering.address(form, "options", name="list") == "/apps/tasks/triggers/~/hello/options/list"
        assert rendering.address(form, "create") == "/apps/tasks/triggers/~/hello/runs"
        assert rendering.address(form, "past", run_id="run_1") == "/apps/tasks/triggers/~/hello/runs/run_1"
        assert rendering.address(edited, "deploy") == "/apps/tasks/triggers/~/hello/deployment?trigger=dc_1"


def test_a_history_that_cannot_be_told_now_leaves_the_page_standing(stage: Any, studio: Studio) -> None:
    with stage.request():
        form = forms.from_draft("actions", "tasks", "tasks-create-task")
        history = rendering.history(form)
        assert history is not None and history["groups"] == [] and history["place"].about == {"id": form.component.key}
        stage.connect.down = True
        assert rendering.history(form) is None
        trigger = replace(form, component=form.component.model_copy(update={"component_type": "source"}))
        stage.connect.seen.clear()
        assert rendering.history(trigger) is None
    assert stage.connect.seen == [], "a trigger is not run from here"
