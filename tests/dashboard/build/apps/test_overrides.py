"""Fields that are filled in beforehand, under a name."""

import json
from typing import Any

import pytest

from tests.dashboard.build.fake_oauth_apps import Registry
from webapp.dashboard.build.apps import overrides

FIELDS = [
    {"name": "region", "label": "Region", "description": "Where it is."},
    {"name": "key", "label": "Key", "secret": True},
]


@pytest.fixture
def stripe(stage: Any, registry: Registry) -> Any:
    app = registry.app("stripe")
    app["custom_fields_json"] = json.dumps(FIELDS)
    return app


def test_apps_with_something_to_fill_in_are_offered(stage: Any, stripe: Any) -> None:
    page = stage.signed_in().get("/build/apps/overrides/new").text
    for slug, offered in (("stripe", True), ("github", True), ("schedule", False)):
        assert (f'value="{slug}"' in page) is offered


def test_of_many_apps_the_first_are_offered_and_others_found(
    stage: Any, stripe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overrides, "MOST_LISTED", 2)
    browser, url = stage.signed_in(), "/build/apps/overrides/new"
    page = browser.get(url).text
    assert 'role="search"' in page and "first by name" in page and 'value="stripe"' not in page
    assert 'value="stripe"' in browser.get(f"{url}?q=%20strip").text
    assert "No such app" in browser.get(f"{url}?q=schedule").text


def test_a_new_name_is_the_one_that_is_reported(stage: Any, stripe: Any, registry: Registry) -> None:
    browser, form = stage.signed_in(), {"app": "stripe", "name": "Old", "cfmap.region": "eu"}
    browser.send("/build/apps/overrides", form)
    (override_id,) = registry.overrides
    browser.send(f"/build/apps/overrides/{override_id}", {**form, "name": "New"})
    assert "“New” is changed." in browser.get("/build/apps").text


def test_one_is_made_changed_and_deleted(stage: Any, stripe: Any, registry: Registry) -> None:
    browser = stage.signed_in()
    page = browser.get("/build/apps/overrides/new?app=stripe").text
    assert 'name="cfmap.region"' in page and "cfmap.key" not in page and "Where it is." in page
    form = {"app": "stripe", "name": "Ours", "cfmap.region": "eu", "cfmap.key": "canary-key"}
    assert browser.send("/build/apps/overrides", form).headers["Location"] == "/build/apps#overrides"
    (override,) = registry.overrides.values()
    assert (override["name"], override["cfmap"]) == ("Ours", {"region": "eu"}), "no secret field"
    assert "region = eu" in browser.get("/build/apps").text
    one = f"/build/apps/overrides/{override['id']}"
    assert 'value="eu"' in browser.get(one).text
    assert browser.send(one, {**form, "cfmap.region": ""}).status_code == 303
    assert override["cfmap"] == {}
    assert "Connect Links that name it" in browser.get(f"{one}/removal").text
    assert browser.send(f"{one}/removal").status_code == 303 and registry.overrides == {}
    assert browser.get(one).status_code == 404


def test_a_client_of_ones_own_may_be_named(stage: Any, registry: Registry) -> None:
    client = registry.add("github", "gh-id")
    browser = stage.signed_in()
    assert f'value="{client["id"]}"' in browser.get("/build/apps/overrides/new?app=github").text
    browser.send("/build/apps/overrides", {"app": "github", "name": "Ours", "oauth_app_id": client["id"]})
    assert next(iter(registry.overrides.values()))["oauth_app_id"] == client["id"]


@pytest.mark.parametrize(("code", "says"), [(400, "Choose a region."), (409, "Choose another name.")])
def test_what_is_refused_stands_at_its_field(stage: Any, stripe: Any, registry: Registry, code: int, says: str) -> None:
    registry.refusal = (code, says)
    answer = stage.signed_in().send("/build/apps/overrides", {"app": "stripe", "name": "x", "cfmap.region": "mars"})
    assert answer.status_code == 422 and says in answer.text and 'value="mars"' in answer.text
    assert 'aria-invalid="true"' in answer.text
