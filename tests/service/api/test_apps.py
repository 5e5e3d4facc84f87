"""Apps and their categories over the API. Searching itself is tested with the catalog."""

import json
from typing import Any

import pytest

from webapp.service.catalog.sources import Places, read
from webapp.service.domain.accounts import oauth_apps

SANDBOXES = {"sandbox", "sandbox_basic", "sandbox_keys"}  # there only where the sandbox is on
APP = {
    "id", "name_slug", "name", "img_src", "custom_fields_json", "categories", "featured_weight", "description",
    "auth_type", "scope_profiles", "oauth_app_id",
}  # fmt: skip


def listed(world: Any, query: str = "") -> list[Any]:
    """Every app that a list gives, page by page."""
    apps, after = [], ""
    while True:
        answer = world.get(f"/v1/connect/apps?limit=100&after={after}&{query}", world.frontend())
        assert answer.status_code == 200, answer.text
        apps += answer.json["data"]
        after = answer.json["page_info"]["end_cursor"]
        if not after:
            return apps


def slugs(world: Any, query: str = "") -> list[str]:
    return [app["name_slug"] for app in listed(world, query)]


def test_every_app_has_the_whole_shape(shared: Any) -> None:
    answer = shared.get("/v1/connect/apps", shared.server()).json
    assert answer["page_info"]["count"] == len(answer["data"]) > 2
    shipped = {source.spec.slug for source in read(Places()).apps} - SANDBOXES
    assert set(slugs(shared)) - SANDBOXES == shipped | {"tinykeys", "tinyoauth"}
    for app in answer["data"]:
        assert set(app) == APP
        assert app["auth_type"] in ("oauth", "keys", "none")
        assert isinstance(json.loads(app["custom_fields_json"]), list)
        assert isinstance(app["featured_weight"], int) and isinstance(app["scope_profiles"], list)


def test_a_list_counts_components_for_who_asks(shared: Any) -> None:
    found = shared.get("/v1/connect/apps?limit=100&extensions=true", shared.frontend()).json["data"]
    assert all(set(app) == APP | {"patchbay"} for app in found)
    for app in found[:3]:
        alone = shared.get(f"/v1/connect/apps/{app['id']}?extensions=true", shared.frontend()).json["data"]["patchbay"]
        assert app["patchbay"] == {
            "signs_in": False,
            "added": False,
            "origin": None,
            "connects": alone["server"] and alone["server"]["connects"],
            **{name: alone[name] for name in ("ready", "actions", "triggers")},
        }


def test_a_servers_and_a_frontends_list_are_the_same(shared: Any) -> None:
    url = "/v1/connect/apps"
    assert shared.get(url, shared.server()).data == shared.get(url, shared.frontend()).data


def test_search_sort_and_categories(shared: Any) -> None:
    assert "tinykeys" in slugs(shared, "q=tiny") and "github" not in slugs(shared, "q=tiny")
    assert slugs(shared, "q=nothinglikeit") == []
    by_name = slugs(shared, "sort_key=name_slug&sort_direction=asc")
    assert by_name == sorted(by_name)
    assert slugs(shared, "sort_key=name_slug&sort_direction=desc") == by_name[::-1]
    categories = {one["name"]: one["id"] for one in shared.get("/v1/connect/app_categories", shared.server()).json}
    testing = categories.pop("Testing")
    for spelling in ("category_ids", "category_ids[]", "category_ids%5B%5D"):
        assert slugs(shared, f"{spelling}={testing}&sort_key=name_slug") == ["tinykeys", "tinyoauth"]
    other = next(iter(categories.values()))
    both = set(slugs(shared, f"category_ids={testing}&category_ids={other}"))
    assert both == set(slugs(shared, f"category_ids={testing},{other}")) > {"tinykeys", "tinyoauth"}


def test_has_filters_narrow_when_true(shared: Any) -> None:
    everything = slugs(shared)
    for name in ("has_components", "has_actions", "has_triggers"):
        assert slugs(shared, f"{name}=false") == everything
        assert "tinykeys" not in slugs(shared, f"{name}=true")
    found = {name: set(slugs(shared, f"has_{name}=true")) for name in ("components", "actions", "triggers")}
    assert found["components"] == found["actions"] | found["triggers"]
    assert "openai" in found["actions"] - found["triggers"] and "email" in found["triggers"] - found["actions"]


def test_pages(shared: Any) -> None:
    everything, seen, cursor = slugs(shared, "sort_key=name"), [], ""
    while True:
        url = f"/v1/connect/apps?sort_key=name&limit=3&after={cursor}"
        page = shared.get(url, shared.server()).json
        seen += [app["name_slug"] for app in page["data"]]
        assert page["page_info"]["total_count"] == len(everything)
        cursor = page["page_info"]["end_cursor"]
        if not cursor:
            break
        last = cursor
    assert seen == everything
    assert shared.get(f"/v1/connect/apps?sort_key=name_slug&after={last}", shared.server()).status_code == 400


@pytest.mark.parametrize(
    ("query", "field"),
    [("sort_key=id", "sort_key"), ("sort_direction=up", "sort_direction"), ("has_actions=yes", "has_actions"),
     ("category_ids=appcat_a,nope", "category_ids.1"), ("category_ids=appcat_", "category_ids.0"),
     ("category_ids=appcat_a%0A", "category_ids.0")],
)  # fmt: skip
def test_a_bad_filter_is_named(shared: Any, query: str, field: str) -> None:
    answer = shared.get(f"/v1/connect/apps?{query}", shared.server())
    assert answer.status_code == 400
    assert [detail["field"] for detail in answer.json["details"]] == [field]


def test_one_app_by_slug_or_id(shared: Any) -> None:
    app = shared.service.catalog.app("tinykeys")
    for name in (app.slug, app.id):
        answer = shared.get(f"/v1/connect/apps/{name}", shared.frontend())
        assert answer.json == {"data": app.api_dict}
    assert shared.get("/v1/connect/apps/nothing", shared.server()).status_code == 404


def test_extensions_tell_whether_it_can_be_connected_here(world: Any) -> None:
    def ours(slug: str) -> Any:
        data = world.get(f"/v1/connect/apps/{slug}?extensions=true", world.frontend()).json["data"]
        assert set(data) == APP | {"patchbay"}
        return data["patchbay"]

    keys = ours("tinykeys")
    assert set(keys) == {
        "ready",
        "connectable",
        "why_not",
        "scopes",
        "docs_url",
        "set_up",
        "actions",
        "triggers",
        "signs_in",
        "sign_in_ready",
        "ways",
        "server",
        "pieces",
        "whole_api",
        "origin",
    }
    assert (keys["connectable"], keys["why_not"], keys["scopes"]) == (True, None, [])
    oauth = ours("tinyoauth")
    assert oauth["connectable"] is False and "no OAuth client" in oauth["why_not"]
    assert (keys["ready"], keys["set_up"], oauth["ready"]) == (True, None, False)
    assert oauth["set_up"]["redirect_uri"].endswith("/connect/oauth/callback/tinyoauth")
    assert keys["ways"] == []
    monday, server = ours("monday"), ours("monday_mcp")
    assert [(way["name_slug"], way["ready"], way["connects"]) for way in monday["ways"]] == [
        ("monday_mcp", True, "registers"),
        ("monday_oauth", False, None),
    ]
    assert monday["ways"][0]["actions"] == 0 < ours("monday_oauth")["ways"][0]["actions"]
    assert (monday["server"], server["connectable"], server["ready"]) == (None, True, True)
    assert server["server"]["url"] == "https://mcp.monday.com/mcp"
    stripe = ours("stripe")
    assert (stripe["ready"], stripe["signs_in"], stripe["sign_in_ready"]) == (True, True, False)
    assert stripe["set_up"]["redirect_uri"].endswith("/connect/oauth/callback/stripe")
    assert [scope["scope"] for scope in stripe["scopes"]] == ["read_write"]
    github = ours("github")["set_up"]
    assert github["console_url"] == "https://github.com/settings/applications/new"
    assert any(github["redirect_uri"] in step for step in github["steps"])
    google = ours("gmail")["set_up"]
    assert (google["provider"], google["console"], google["checkable"]) == ("Google", "Google Cloud", True)
    assert {"google_calendar", "google_drive", "google_sheets"} <= {app["name_slug"] for app in google["family"]}
    assert google["notes"] and google["id_shape"]["pattern"] and google["read_on"]
    assert (github["provider"], github["family"], github["id_shape"]) == ("GitHub", [], None)
    assert oauth["scopes"][0] == {"scope": "profile", "words": "see who you are"}
    oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s", project_id=world.scene.project_id)
    assert ours("tinyoauth")["connectable"] is ours("tinyoauth")["ready"] is True


def test_apps_that_are_ready_and_apps_that_wait_for_a_client(world: Any) -> None:
    waiting, ready = set(slugs(world, "ready=false")), set(slugs(world, "ready=true"))
    assert {"tinyoauth", "github"} <= waiting and {"tinykeys", "http", "sandbox"} <= ready
    assert waiting | ready == set(slugs(world)) and not waiting & ready
    assert {app["name_slug"] for app in listed(world, "extensions=true") if app["patchbay"]["ready"]} == ready
    oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s", project_id=world.scene.project_id)
    assert "tinyoauth" in slugs(world, "ready=true") and "tinyoauth" not in slugs(world, "ready=false")


def test_some_apps_only_and_all_the_others(shared: Any) -> None:
    assert slugs(shared, "among=github,tinykeys&without=github") == ["tinykeys"]
    assert set(slugs(shared)) - set(slugs(shared, "without=github")) == {"github"}
    page = shared.get("/v1/connect/apps?without=github&sort_key=name&limit=3", shared.server()).json["page_info"]
    cursor = page["end_cursor"]
    assert shared.get(f"/v1/connect/apps?sort_key=name&after={cursor}", shared.server()).status_code == 400
    assert shared.get("/v1/connect/apps?among=Not%20a%20slug", shared.server()).status_code == 400


def test_apps_by_state_with_the_number_in_each_and_in_each_category(world: Any) -> None:
    def ask(query: str) -> Any:
        return world.get(f"/v1/connect/apps?limit=100&{query}", world.server()).json

    whole = ask("q=a&states=setup,connected,ready&connected=github,tinykeys&sort_key=name")
    listed = [app["name_slug"] for app in whole["data"]]
    ready, waiting = slugs(world, "q=a&sort_key=name&ready=true"), slugs(world, "q=a&sort_key=name&ready=false")
    own = [slug for slug in slugs(world, "q=a&sort_key=name") if slug in ("github", "tinykeys")]
    rest = [[slug for slug in each if slug not in own] for each in (ready, waiting)]
    assert listed == (own + rest[0] + rest[1])[:100] and own and all(rest)
    counts = {"connected": len(own), "ready": len(rest[0]), "setup": len(rest[1])}
    categories = world.get("/v1/connect/app_categories?q=a&extensions=true", world.server()).json
    assert whole["counts"] == {"states": counts, "categories": {each["id"]: each["count"] for each in categories}}
    some = ask(f"q=a&states=ready&connected=github&category_ids={categories[0]['id']}&limit=3")
    assert some["page_info"]["total_count"] == some["counts"]["states"]["ready"] <= categories[0]["count"]
    assert some["counts"]["categories"] == whole["counts"]["categories"]
    few = ask("states=ready,setup&among=github,tinykeys")["counts"]
    assert sum(few["states"].values()) == 2 and 2 <= sum(few["categories"].values()) < 10
    assert "counts" not in ask("q=a&connected=github")
    assert world.get("/v1/connect/apps?states=broken", world.server()).status_code == 400


def test_categories(shared: Any) -> None:
    found = shared.get("/v1/connect/app_categories", shared.frontend()).json
    assert isinstance(found, list) and all(set(one) == {"id", "name", "description"} for one in found)
    testing = next(one for one in found if one["name"] == "Testing")
    assert shared.get(f"/v1/connect/app_categories/{testing['id']}", shared.server()).json == testing
    assert shared.get("/v1/connect/app_categories/appcat_none", shared.server()).status_code == 404
    counted = shared.get("/v1/connect/app_categories?extensions=true", shared.server()).json
    assert next(one for one in counted if one["id"] == testing["id"]) == {**testing, "count": 2}
    narrowed = shared.get("/v1/connect/app_categories?extensions=true&q=tiny+keys", shared.server()).json
    assert {one["name"]: one["count"] for one in narrowed}["Testing"] == 1
