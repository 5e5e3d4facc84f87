"""Components, actions and triggers over the API: lists with their filters, one by key or id in any version; configure,
reload and run with the tests' own components in a real runner.
"""

import time
from typing import Any

import pytest

from tests.fakes.own_components import FILES
from tests.service.conftest import GOOD_KEY, Provider
from webapp.kit.clock import MINUTE
from webapp.service.domain.accounts import oauth_apps

TASK, EVERY = "~/make-task", "~/every-type"
PROJECTS: dict[str, Any] = {"id": TASK, "prop_name": "project_id"}


def keys(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.json
    return [item["key"] for item in answer.json["data"]]


def test_lists_narrow_by_every_filter(shared: Any) -> None:
    token = shared.frontend()
    own = keys(shared.get("P/components?registry=private&limit=100", token))
    assert sorted(own) == sorted({f"~/{place.split('/')[0]}" for place in FILES})
    triggers = sorted({f"~/{place.split('/')[0]}" for place, text in FILES.items() if "(Trigger)" in text})
    assert keys(shared.get("P/actions?registry=private", token)) == [key for key in own if key not in triggers]
    assert keys(shared.get("P/triggers?registry=private", token)) == triggers
    assert keys(shared.get("P/components?registry=private&component_type=trigger", token)) == triggers
    assert keys(shared.get("P/components?q=make+tas", token)) == ["~/make-task"]
    app_id = shared.get("/v1/connect/apps/tinykeys", token).json["data"]["id"]
    for app in ("tinykeys", app_id):
        assert "~/make-task" in keys(shared.get(f"P/components?app={app}", token))
    assert keys(shared.get("P/components?app=tinyoauth", token)) == ["~/who-am-i"]
    assert not any(key.startswith("~/") for key in keys(shared.get("P/components?registry=public&limit=100", token)))


def test_a_search_begins_with_what_is_connected(shared: Any) -> None:
    token = shared.frontend()
    usual = keys(shared.get("P/components?q=make&limit=100", token))
    for app in ("tinykeys", "tinyoauth"):
        own = keys(shared.get(f"P/components?app={app}&q=make", token))
        first = keys(shared.get(f"P/components?q=make&limit=100&connected={app},nowhere", token))
        assert first == own + [key for key in usual if key not in own]
    assert shared.get("P/components?q=make&connected=A%22", token).json["details"][0]["field"] == "connected.0"


def test_lists_say_the_tag_of_operations_of_a_whole_api(shared: Any) -> None:
    token = shared.frontend()
    (listed,) = shared.get("P/components?q=make+tas&extensions=true", token).json["data"]
    assert listed["patchbay"] == {"tag": None}
    assert shared.get("P/components/~/make-task?extensions=true", token).json["data"]["patchbay"] == {
        "tag": None, "piece": None, "checked": False, "checked_against": None, "described_on": None,
    }  # fmt: skip


def test_lists_page_without_gaps(shared: Any) -> None:
    token = shared.frontend()
    whole = shared.get("P/components?registry=private", token).json
    first = shared.get("P/components?registry=private&limit=5", token).json
    after = first["page_info"]["end_cursor"]
    rest = shared.get("P/components", token, query_string={"registry": "private", "limit": 50, "after": after}).json
    assert first["data"] + rest["data"] == whole["data"]
    assert (first["page_info"]["count"], first["page_info"]["total_count"]) == (5, len(whole["data"]))
    assert rest["page_info"]["end_cursor"] == ""
    foreign = shared.get("P/components", token, query_string={"after": after})
    assert (foreign.status_code, foreign.json["details"][0]["field"]) == (400, "after or before")


def test_one_component_in_its_highest_release_or_the_one_asked_for(shared: Any) -> None:
    token = shared.frontend()
    for path in ("P/components/~/make-task", "P/actions/~/make-task", "P/actions/~%2Fmake-task"):
        found = shared.get(path, token).json["data"]
        assert (found["key"], found["version"], found["component_type"]) == ("~/make-task", "1.1.0", "action")
    assert shared.get("P/actions/~/make-task?version=1.0.0", token).json["data"]["version"] == "1.0.0"
    assert shared.get("P/triggers/~/make-task", token).status_code == 404
    assert shared.get("P/components/~/make-tas", token).status_code == 404
    for wrong in ("1.0", "2.0.0", "latest"):
        answer = shared.get(f"P/actions/~/make-task?version={wrong}", token)
        assert (answer.status_code, wrong in answer.json["error"]) == (404, True)


def test_an_id_names_one_version(shared: Any) -> None:
    older = shared.service.catalog.component("~/make-task", "1.0.0")
    found = shared.get(f"P/components/{older.id}", shared.frontend()).json["data"]
    assert (found["key"], found["version"]) == ("~/make-task", "1.0.0")
    assert shared.get(f"P/components/{older.id}?version=1.1.0", shared.frontend()).status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("P/actions/~/watch", 404), ("P/triggers/~/make-task", 404), ("P/triggers/~/watch", 200),
        ("P/components/~/watch", 200), ("P/components/nothing-here", 404), ("P/components/configure", 405),
        ("P/components?component_type=source", 400), ("P/components?registry=mine", 400),
    ],
)  # fmt: skip
def test_a_noun_admits_its_own_kind(shared: Any, path: str, status: int) -> None:
    answer = shared.get(path, shared.frontend())
    assert answer.status_code == status, answer.json


def test_a_component_is_whole_for_strict_clients(shared: Any) -> None:
    found = shared.get("P/components/~/every-type", shared.frontend()).json["data"]
    assert set(found) == {
        "key", "name", "version", "configurable_props", "description", "component_type", "annotations",
    }  # fmt: skip
    required = {
        "app": {"app"}, "alert": {"content"}, "$.interface.apphook": {"appProp"}, "$.airtable.baseId": {"appProp"},
        "$.airtable.tableId": {"baseIdProp"}, "$.airtable.viewId": {"tableIdProp"},
        "$.airtable.fieldId": {"tableIdProp"}, "$.discord.channel": {"appProp"}, "$.discord.channel[]": {"appProp"},
    }  # fmt: skip
    for prop in found["configurable_props"]:
        assert {"name", "type", *required.get(prop["type"], ())} <= set(prop), prop
    assert len({prop["type"] for prop in found["configurable_props"]}) == len(found["configurable_props"])
    assert shared.get("P/components/~/writes", shared.frontend()).json["data"]["stash"] == "optional"
    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert set(found["annotations"]) == {"title", *hints} and found["annotations"]["title"] == found["name"]


@pytest.fixture
def account(world: Any) -> dict[str, str]:
    """Alice's account, as the value of an app prop."""
    return {"authProvisionId": world.plant("alice", values={"api_key": GOOD_KEY, "region": "eu"}).id}


def ask(world: Any, path: str, body: dict[str, Any], token: str | None = None) -> Any:
    whole = {"external_user_id": "alice", **body}
    return world.post(path, token or world.frontend(), json=whole)


def good(answer: Any) -> Any:
    assert answer.status_code == 200, answer.json
    return answer.json


def reloaded(world: Any, account: dict[str, str], **more: Any) -> Any:
    values = {"account": account, "project_id": "p7"}
    return good(ask(world, "P/actions/props", {"id": TASK, "configured_props": values, **more}))


class TestConfigure:
    def test_pages_follow_the_context_and_the_query(self, world: Any, account: dict[str, str]) -> None:
        body = {"id": TASK, "prop_name": "project_id", "configured_props": {"account": account}}
        first = good(ask(world, "P/components/configure", body))
        assert set(first) == {"options", "stringOptions", "observations", "context", "errors"}
        assert (first["stringOptions"], first["errors"]) == (None, [])
        assert first["options"][0] == {"label": "Project 0", "value": "p0"} and len(first["options"]) == 50
        assert first["context"] == {"start": 50, "account": "eu"}
        more = good(ask(world, "P/actions/configure", {**body, "page": 1, "prev_context": first["context"]}))
        assert more["options"][0]["value"] == "p50"
        second = good(ask(world, "P/actions/configure", {**body, "page": 2}))
        assert second["options"][0]["value"] == "p100"  # counted by the page alone
        third = good(ask(world, "P/actions/configure", {**body, "page": 1, "prev_context": {"start": 150}}))
        assert third["options"][0]["value"] == "p150"  # by what the page before answered
        found = good(ask(world, "P/actions/configure", {**body, "query": "project 199", "blocking": True}))
        assert found["options"] == [{"label": "Project 199", "value": "p199"}]

    def test_what_it_logs_is_reported_without_the_credential(self, world: Any, account: dict[str, str]) -> None:
        body = {"id": TASK, "prop_name": "project_id", "configured_props": {"account": account}}
        answer = ask(world, "P/actions/configure", body)
        logged = answer.json["observations"][0]
        assert logged["msg"].startswith("looked up") and logged["k"] == "log"
        assert abs(logged["ts"] - time.time() * 1000) < 60_000
        assert GOOD_KEY not in answer.text

    def test_options_of_a_trigger_that_fail_are_errors_of_a_good_answer(
        self, world: Any, account: dict[str, str]
    ) -> None:
        body = {"id": "~/watch", "prop_name": "list_id", "configured_props": {"account": account}}
        for path in ("P/components/configure", "P/triggers/configure"):
            answer = good(ask(world, path, body))
            assert answer["errors"] == ["The lists cannot be read."]
            assert answer["options"] is None and answer["context"] is None
            assert answer["observations"][-1]["k"] == "error"
            error = answer["observations"][-1]["err"]
            assert set(error) == {"name", "message", "stack"}
            assert (error["name"], error["message"]) == ("ComponentError", "The lists cannot be read.")
            assert error["stack"].lstrip().startswith('File "')
        assert ask(world, "P/actions/configure", body).status_code == 404

    def test_fixed_options_are_given_without_running_anything(self, world: Any) -> None:
        body = {"id": "~/watch", "prop_name": "kind", "query": "closed"}
        found = good(ask(world, "P/triggers/configure", body))
        assert found["options"] == [{"label": "Closed tasks", "value": "closed"}]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"prop_name": "nonsense"}, "prop_name"),
            ({"prop_name": "title", "page": -1}, "page"),
            ({"prop_name": "title", "page": 0.5}, "page"),
            ({"prop_name": "title", "page": "1"}, "page"),
            ({"prop_name": "title", "page": True}, "page"),
            ({"prop_name": "title", "prev_context": []}, "prev_context"),
            ({"prop_name": "colour"}, "dynamic_props_id"),
            ({}, "prop_name"),
        ],
    )
    def test_what_is_wrong_with_the_request_is_400(self, shared: Any, body: dict[str, Any], field: str) -> None:
        body = {"id": TASK, **body} if body.get("prop_name") != "nonsense" else {"id": EVERY, **body}
        answer = ask(shared, "P/components/configure", body)
        assert (answer.status_code, [one["field"] for one in answer.json["details"]]) == (400, [field]), answer.json

    @pytest.mark.parametrize("path", ["configure", "props"])
    def test_what_is_wrong_with_values_is_an_error_of_the_answer(self, shared: Any, path: str) -> None:
        """Section 7: existing clients show ``errors``, and their form breaks at an exception."""
        values = {"title": 5, "account": {"authProvisionId": "apn_none"}}
        body = {"id": TASK, "prop_name": "project_id", "configured_props": values}
        wrong = good(ask(shared, f"P/components/{path}", body))
        assert wrong["errors"] == ["title is not valid: It must be text, not a whole number."]
        absent = {**body, "configured_props": {**values, "title": "x"}}
        assert good(ask(shared, f"P/components/{path}", absent))["errors"] == ["There is no such account."]

    @pytest.mark.parametrize("path", ["configure", "props"])
    def test_problems_are_errors_and_only_what_is_unknown_is_refused(self, world: Any, path: str) -> None:
        mine = world.plant("alice", values={"api_key": GOOD_KEY, "region": "eu"}).id
        dead = world.plant("alice", dead=True, healthy=False, error="The key was refused.").id
        other = world.plant("alice", app="tinyoauth", values={"oauth_access_token": "x"}).id
        accounts = {"apn_none": "There is no such", world.plant("bob").id: "There is no such", other: "Tiny OAuth"}
        problems: list[tuple[Any, str]] = [
            *(({"authProvisionId": account}, sentence) for account, sentence in accounts.items()),
            ({"authProvisionId": dead}, "The key was refused."), ("words", "account is not valid"), (7, "account"),
        ]  # fmt: skip
        for value, sentence in problems:
            values = {"account": value, "project_id": "p7"}
            answer = good(ask(world, f"P/actions/{path}", {**PROJECTS, "configured_props": values}))
            assert sentence in answer["errors"][0] and len(answer["errors"]) == 1, (value, answer)
            assert answer.get("options") is answer.get("dynamicProps") is None
        flag = good(ask(world, "P/components/configure", {"id": EVERY, "prop_name": "flag"}))
        assert flag["errors"] == ["That prop has no options to look up; ask the person for its value."]
        assert ask(world, f"P/actions/{path}", {**PROJECTS, "id": "~/none"}).status_code == 404
        assert ask(world, f"P/actions/{path}", {**PROJECTS, "dynamic_props_id": "dyp_none"}).status_code == 404
        nobody = world.post(f"P/actions/{path}", world.server(), json=PROJECTS)
        assert nobody.status_code == 400 and nobody.json["details"][0]["field"] == "external_user_id"
        bob = {**PROJECTS, "external_user_id": "bob", "configured_props": {"account": {"authProvisionId": mine}}}
        assert ask(world, f"P/actions/{path}", bob).status_code == 403
        unknown = world.post(f"P/actions/{path}", world.server(), json={**bob, "external_user_id": "nobody"})
        assert good(unknown)["errors"] == ["There is no such account."]

    def test_without_its_account_options_say_so(self, shared: Any) -> None:
        answer = good(ask(shared, "P/components/configure", {"id": TASK, "prop_name": "project_id"}))
        assert answer == {
            "options": None, "stringOptions": None, "observations": [], "context": None,
            "errors": ["account is missing; choose a connected account."],
        }  # fmt: skip

    def test_values_for_props_that_do_not_exist_are_named(self, world: Any) -> None:
        body = {"id": "~/watch", "prop_name": "kind", "configured_props": {"list": "7", "kind": "open", "no": None}}
        answer = good(ask(world, "P/triggers/configure", body))
        sentence = "There is no prop list here, so its value was left out. Did you mean list_id?"
        assert answer["warnings"] == [{"field": "configured_props.list", "message": sentence}]
        assert len(answer["options"]) == 2
        unclear = {"id": TASK, "prop_name": "title", "configured_props": {"colour": "red"}}
        assert "warnings" not in ask(world, "P/actions/configure", unclear).json  # a reload may have given it

    def test_options_of_a_reloaded_prop(self, world: Any, account: dict[str, str]) -> None:
        kept = reloaded(world, account)["dynamicProps"]["id"]
        values = {"account": account, "project_id": "p7"}
        body = {"id": TASK, "prop_name": "colour", "dynamic_props_id": kept, "configured_props": values}
        assert good(ask(world, "P/actions/configure", body))["stringOptions"] == ["red", "green"]


class TestOtherNames:
    """Names that clients know components and props by besides ours (contract "Other names")."""

    def test_props_are_accepted_under_them(self, world: Any, account: dict[str, str]) -> None:
        values = {"tinykeys": account, "projectId": "p7"}
        body = {"id": TASK, "prop_name": "projectId", "configured_props": {"app": account}}
        assert good(ask(world, "P/actions/configure", body))["options"][0]["value"] == "p0"
        kept = good(ask(world, "P/actions/props", {"id": TASK, "configured_props": values}))["dynamicProps"]["id"]
        body = {"id": TASK, "configured_props": {**values, "title": "Paint", "colour": "red"}, "dynamic_props_id": kept}
        answer = good(ask(world, "P/actions/run", body))
        assert answer["ret"]["me"]["name"] == "Ada" and "warnings" not in answer
        run = world.get("P/runs", world.frontend()).json["data"][0]
        inputs = world.get(f"P/runs/{run['id']}", world.frontend()).json["data"]["configured_props"]
        assert set(inputs) == {"account", "project_id", "title", "colour"}

    def test_a_prop_that_comes_twice_has_the_value_under_its_own_name(self, world: Any, account: Any) -> None:
        values = {"account": account, "app": {"authProvisionId": "apn_none"}}
        answer = good(ask(world, "P/actions/props", {"id": TASK, "configured_props": values}))
        assert [warning["field"] for warning in answer["warnings"]] == ["configured_props.app"]

    def test_components_are_found_by_them_and_answer_with_their_own_key(self, world: Any, provider: Provider) -> None:
        request = {"url": f"{provider.base}/me", "method": "GET"}
        body = {"id": "http-custom-request", "configured_props": {"httpRequest": request, "fail": False}}
        assert good(ask(world, "P/actions/run", body))["ret"]["status"] == 401
        runs = world.get("P/runs?component_id=http-custom-request", world.frontend()).json["data"]
        assert [run["component_key"] for run in runs] == ["http-send-request"]
        for path, key in (
            ("P/actions/slack_v2-send-message", "slack-send-message"),
            ("P/triggers/rss-new-item-in-feed", "rss-new-item"),
        ):
            assert world.get(path, world.frontend()).json["data"]["key"] == key
        assert world.get("P/triggers/slack_v2-send-message", world.frontend()).status_code == 404

    def test_apps_are_found_by_them_and_answer_with_their_own_slug(self, world: Any) -> None:
        token = world.frontend()
        assert world.get("/v1/connect/apps/slack_v2", token).json["data"]["name_slug"] == "slack"
        listed = [world.get(f"P/actions?app={slug}", token).json["data"] for slug in ("slack_v2", "slack")]
        assert listed[0] == listed[1] != []
        slack = world.plant("alice", app="slack", values={"oauth_access_token": "x"})
        accounts = world.get("P/accounts?app=slack_v2", token).json["data"]
        assert [(row["id"], row["app"]["name_slug"]) for row in accounts] == [(slack.id, "slack")]


class TestReload:
    def test_the_whole_new_list_is_kept_under_an_id(self, world: Any, account: dict[str, str]) -> None:
        answer = reloaded(world, account, blocking=True)
        assert set(answer) == {"observations", "errors", "dynamicProps"}
        found = answer["dynamicProps"]
        assert found["id"].startswith("dyp_") and answer["errors"] == []
        names = [prop["name"] for prop in found["configurableProps"]]
        assert names == ["account", "project_id", "title", "urgent", "token", "colour", "size"]
        assert [one["msg"] for one in answer["observations"]] == ["reloading for p7"]

    def test_a_reload_that_fails_says_why(self, world: Any, account: dict[str, str]) -> None:
        values = {"account": account, "project_id": "p13"}
        answer = good(ask(world, "P/components/props", {"id": TASK, "configured_props": values}))
        assert (answer["errors"], answer["dynamicProps"]) == (["Project 13 cannot be read."], None)

    def test_what_a_component_gives_wrongly_is_reported(self, world: Any, account: dict[str, str]) -> None:
        values = {"account": account, "project_id": "p14"}
        answer = good(ask(world, "P/components/props", {"id": TASK, "configured_props": values}))
        assert answer["errors"] == ["The component gave size a default of another type; it was left out."]
        assert "default" not in answer["dynamicProps"]["configurableProps"][-1]

    def test_values_for_props_that_do_not_exist_are_named(self, world: Any, account: dict[str, str]) -> None:
        values = {"account": account, "project_id": "p7", "colour": "red", "tite": "x"}
        answer = good(ask(world, "P/actions/props", {"id": TASK, "configured_props": values}))
        assert [warning["field"] for warning in answer["warnings"]] == ["configured_props.tite"]
        other = good(ask(world, "P/triggers/props", {"id": "~/watch", "configured_props": {"kin": "open"}}))
        assert [warning["field"] for warning in other["warnings"]] == ["configured_props.kin"]

    def test_a_component_without_dynamic_props_keeps_its_own(self, world: Any) -> None:
        found = good(ask(world, "P/triggers/props", {"id": "~/watch"}))["dynamicProps"]
        assert [prop["name"] for prop in found["configurableProps"]] == ["account", "list_id", "kind"]

    def test_the_id_is_good_for_its_own_user_and_version_only(self, world: Any, account: dict[str, str]) -> None:
        kept = reloaded(world, account)["dynamicProps"]["id"]
        body = {"dynamic_props_id": kept, "configured_props": {}}
        assert good(ask(world, "P/actions/props", {"id": TASK, **body}))["dynamicProps"]["id"] != kept
        bob = {"id": TASK, "external_user_id": "bob", **body}
        assert ask(world, "P/actions/props", bob, world.frontend("bob")).status_code == 404
        for other in ({"id": EVERY}, {"id": TASK, "version": "1.0.0"}):
            assert ask(world, "P/actions/props", {**other, **body}).status_code == 404


class TestRun:
    def test_labels_defaults_and_reloaded_values_arrive(self, world: Any, account: dict[str, str]) -> None:
        kept = reloaded(world, account)["dynamicProps"]["id"]
        values = {
            "account": {"__lv": {"label": "Ada", "value": account}},
            "project_id": {"__lv": {"label": "Project 7", "value": "p7"}},
            "title": "Paint", "token": "canary-token", "colour": {"__lv": {"label": "Red", "value": "red"}}, "size": 3,
        }  # fmt: skip
        body = {"id": TASK, "configured_props": values, "dynamic_props_id": kept, "stash_id": "NEW"}
        for path, stash in (("P/actions/run", True), ("P/components/run", "s-1")):
            answer = good(ask(world, path, {**body, "stash_id": stash}, world.server()))
            assert set(answer) == {"exports", "os", "ret", "stash_id"}
            assert answer["exports"]["$filestash_uploads"] == [] and answer["stash_id"]
            assert answer["ret"] == {
                "me": {"id": "u-1", "name": "Ada"}, "title": "Paint", "urgent": False, "label": "Project 7",
                "extra": {"colour": "red", "size": 3}, "fields": ["api_key", "region"],
            }  # fmt: skip
            assert answer["exports"]["$summary"].startswith("Made Paint")
            assert [one["k"] for one in answer["os"]] == ["log"]
        plain = good(ask(world, "P/actions/run", {**body, "stash_id": None}, world.server()))
        assert set(plain) == {"exports", "os", "ret"}
        assert plain["exports"] == {"$summary": "Made Paint with canary-token", "echo": "canary-token"}

    def test_a_component_that_fails_answers_200(self, world: Any) -> None:
        answer = good(ask(world, "P/actions/run", {"id": "~/fail", "configured_props": {"token": "canary-token"}}))
        assert (answer["ret"], answer["exports"]) == (None, {})
        assert [one["k"] for one in answer["os"]] == ["log", "error"]
        assert answer["os"][1]["err"]["message"].startswith("It failed with")

    def test_values_for_props_that_do_not_exist_are_named_and_logged(self, world: Any) -> None:
        values = {"text": "a", "nubmer": 3, "x" * 200: 1}
        token = world.server()
        for stash in (None, True):
            body = {"id": EVERY, "configured_props": values, "stash_id": stash}
            answer = good(ask(world, "P/actions/run", body, token))
            first, second = answer["warnings"]
            assert first["field"] == "configured_props.nubmer" and first["message"].endswith("Did you mean number?")
            assert second["field"] == f"configured_props.{'x' * 100}…"
            assert [(line["k"], line["msg"]) for line in answer["os"][:2]] == [
                ("warning", first["message"]), ("warning", second["message"]),
            ]  # fmt: skip
            assert answer["ret"]["text"] == "a"
        (newest, _) = world.get("P/runs", token).json["data"]
        kept = world.get(f"P/runs/{newest['id']}", token).json["data"]
        assert kept["ok"] and kept["os"][0]["k"] == "warning"
        many = {f"p{number}": 1 for number in range(500)}
        answer = good(ask(world, "P/actions/run", {"id": EVERY, "configured_props": many}, token))
        assert len(answer["warnings"]) == 20

    def test_without_the_reloaded_props_it_says_so(self, world: Any, account: dict[str, str]) -> None:
        values = {"account": account, "project_id": "p7", "title": "Paint"}
        answer = ask(world, "P/actions/run", {"id": TASK, "configured_props": values})
        assert answer.status_code == 400
        assert answer.json["details"][0]["field"] == "dynamic_props_id" and "reload" in answer.json["error"]

    def test_every_missing_value_is_named(self, world: Any) -> None:
        answer = ask(world, "P/actions/run", {"id": TASK, "configured_props": {"title": ""}})
        assert answer.status_code == 400
        fields = [one["field"] for one in answer.json["details"]]
        assert fields == [f"configured_props.{name}" for name in ("account", "project_id", "title")]

    def test_an_older_version_runs_beside_the_newest(self, world: Any) -> None:
        values = {"configured_props": {"title": "Paint"}}
        assert good(ask(world, "P/actions/run", {"id": TASK, "version": "1.0.0", **values}))["ret"] == {"old": "Paint"}
        older = world.service.catalog.component(TASK, "1.0.0").id
        assert good(ask(world, "P/actions/run", {"id": older, "version": None, **values}))["ret"] == {"old": "Paint"}
        assert ask(world, "P/actions/run", {"id": TASK, "version": "9.9.9", **values}).status_code == 404

    def test_a_trigger_is_not_run(self, world: Any) -> None:
        for path in ("P/actions/run", "P/components/run"):
            assert ask(world, path, {"id": "~/watch", "configured_props": {}}).status_code == 404


class TestAccounts:
    def run(self, world: Any, account_id: str, token: str | None = None, user: str = "alice") -> Any:
        values = {"account": {"authProvisionId": account_id}, "number": 2}
        body = {"id": EVERY, "configured_props": values, "external_user_id": user}
        return ask(world, "P/actions/run", body, token or world.server())

    def test_somebody_elses_is_like_an_absent_one(self, world: Any) -> None:
        bobs = world.plant("bob").id
        world.plant("alice")  # whoever has no account at all is refused before
        answers = [self.run(world, "apn_none"), self.run(world, bobs), self.run(world, bobs, user="nobody")]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.data for answer in answers}) == 1
        assert good(self.run(world, bobs, user="bob"))["ret"]["number"] == 2

    def test_one_of_another_app_is_refused_by_name(self, world: Any) -> None:
        answer = self.run(world, world.plant("alice", app="tinyoauth", values={"oauth_access_token": "x"}).id)
        assert answer.status_code == 400
        assert answer.json["details"][0]["field"] == "configured_props.account"
        assert "Tiny Keys" in answer.json["error"] and "Tiny OAuth" in answer.json["error"]

    def test_a_dead_one_fails_the_run_by_an_observation(self, world: Any) -> None:
        dead = world.plant("alice", dead=True, healthy=False, error="The key was refused.")
        answer = good(self.run(world, dead.id))
        assert answer["os"][0]["k"] == "error"
        assert "The key was refused." in answer["os"][0]["err"]["message"]
        body = {"id": TASK, "prop_name": "project_id", "configured_props": {"account": {"authProvisionId": dead.id}}}
        found = good(ask(world, "P/actions/configure", body))
        assert "reconnect" in found["errors"][0] and found["observations"][0]["k"] == "error"

    def test_an_expired_token_is_refreshed_and_the_refresh_token_stays_here(self, world: Any) -> None:
        client = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s")
        values = {"oauth_access_token": "stale", "oauth_refresh_token": "canary-refresh", "oauth_uid": "u-1"}
        given = {"app": "tinyoauth", "oauth_app_id": client.id, "values": values}
        account = world.plant("alice", **given, expires_at=world.clock() - 1, next_refresh_at=world.clock())
        body = {"id": "~/who-am-i", "configured_props": {"account": {"authProvisionId": account.id}}}
        answer = good(ask(world, "P/actions/run", body))
        assert answer["ret"] == {"name": "Ada", "fields": ["oauth_access_token", "oauth_uid"]}, answer

    def test_one_that_cannot_be_refreshed_fails_the_run_by_an_observation(self, world: Any, provider: Any) -> None:
        client = oauth_apps.add(world.service, app="tinyoauth", client_id="c", client_secret="s")
        values = {"oauth_access_token": "stale", "oauth_refresh_token": "revoked"}
        given = {"app": "tinyoauth", "oauth_app_id": client.id, "values": values}
        account = world.plant("alice", **given, expires_at=world.clock() - 1, next_refresh_at=world.clock())
        body = {"id": "~/who-am-i", "configured_props": {"account": {"authProvisionId": account.id}}}
        provider.down = True
        assert "cannot be used now" in good(ask(world, "P/actions/run", body))["os"][0]["err"]["message"]
        provider.down = False
        world.clock.advance(MINUTE)
        assert "no longer works" in good(ask(world, "P/actions/run", body))["os"][0]["err"]["message"]
        assert [item["ok"] for item in world.get("P/runs", world.server()).json["data"]] == [False, False]


class TestWhoseItIs:
    def test_a_frontend_acts_for_its_own_user_only(self, world: Any) -> None:
        bodies: dict[str, dict[str, Any]] = {
            "P/actions/run": {"id": "~/fail", "configured_props": {"token": "t"}},
            "P/actions/props": {"id": TASK},
            "P/actions/configure": {"id": TASK, "prop_name": "project_id"},
        }
        for path, body in bodies.items():
            assert ask(world, path, body, world.frontend("bob")).status_code == 403
            without = world.post(path, world.frontend(), json=body)
            assert (without.status_code, without.json["details"][0]["field"]) == (400, "external_user_id")

    def test_the_scope_follows_the_kind_of_the_component(self, world: Any) -> None:
        body = {"id": "~/watch", "prop_name": "kind"}
        for scope, status in (("connect:triggers:*", 200), ("connect:actions:*", 403), ("connect:*", 200)):
            assert ask(world, "P/components/configure", body, world.server(scope)).status_code == status
        body = {"id": "~/fail", "version": "1.0.0"}
        for scope, status in (("connect:triggers:*", 403), ("connect:actions:*", 200)):
            assert ask(world, "P/components/props", body, world.server(scope)).status_code == status


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("account", "apn_1"), ("account", {"id": "apn_1"}), ("text", 5), ("text", "c"), ("text", ["a"]),
        ("texts", "a"), ("texts", [1]), ("number", "3"), ("number", 2.5), ("number", True), ("number", 0),
        ("number", 6), ("numbers", 3), ("numbers", ["3"]), ("flag", "true"), ("flag", 1), ("thing", "{}"),
        ("thing", []), ("statement", "select 1"), ("statement", {"query": 5}),
        ("statement", {"query": "", "params": 1}),
        ("statement", {"query": "select 1", "auth": "x"}), ("request", "https://a.example"), ("request", {"url": 5}),
        ("request", {"url": "x", "method": "FETCH"}), ("request", {"url": "x", "headers": {"a": "b"}}),
        ("request", {"url": "x", "body": "b"}), ("request", {"url": "x", "auth": {"type": "digest"}}), ("store", 5),
        ("folder", "x"), ("hook", "x"), ("clock", 900), ("clock", {"intervalSeconds": 0}), ("clock", {"cron": 5}),
        ("clock", {}), ("events", "x"), ("memory", "x"), ("base", 5), ("table", 5), ("view", 5), ("field", 5),
        ("channel", 5), ("channels", "c"), ("channels", [5]),
    ],
)  # fmt: skip
def test_a_mistyped_value_of_every_type_is_named_before_anything_runs(shared: Any, name: str, value: Any) -> None:
    for wrapped in (value, {"__lv": {"label": "L", "value": value}}):
        answer = ask(shared, "P/actions/run", {"id": EVERY, "configured_props": {name: wrapped}})
        assert answer.status_code == 400, answer.json
        (detail,) = answer.json["details"]
        assert detail["field"] == f"configured_props.{name}" and detail["message"].endswith(".")
        assert answer.json["error"] == f"{name} is not valid: {detail['message']}"


def test_a_good_value_of_every_type_arrives_as_it_was_sent(world: Any) -> None:
    values = {
        "text": "a", "texts": ["x", ""], "number": 5, "numbers": [1, -2], "flag": False, "thing": {"a": [1]},
        "anything": [None, {"b": 2.5}], "statement": {"query": "select 1", "params": [1], "auth": {"app": "account"}},
        "request": {"url": "https://a.example", "method": "post", "headers": [{"name": "a", "value": "b"}]},
        "store": "ds_1", "base": "b", "table": "t", "view": "v", "field": "f", "channel": "c", "channels": ["c", "d"],
        "clock": {"cron": "0 * * * *", "timezone": "Europe/Berlin"},
    }  # fmt: skip
    ret = good(ask(world, "P/actions/run", {"id": EVERY, "configured_props": values}))["ret"]
    assert {name: ret[name] for name in values} == values


@pytest.mark.parametrize("depth", [150, 500])
def test_deep_values_are_refused(shared: Any, depth: int) -> None:
    raw = '{"a":' * depth + "1" + "}" * depth
    body = f'{{"id": "{EVERY}", "external_user_id": "alice", "configured_props": {raw}}}'
    answer = shared.post("P/actions/run", shared.frontend(), data=body, content_type="application/json")
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "configured_props")


def test_a_component_says_whether_its_requests_were_checked(shared: Any) -> None:
    token = shared.frontend()
    extensions = shared.get("P/components/github-create-issue?extensions=true", token).json["data"]["patchbay"]
    assert extensions["checked"] and extensions["described_on"].startswith("20")
    assert extensions["checked_against"] == "description"
    extensions = shared.get("P/components/zendesk-add-comment?extensions=true", token).json["data"]["patchbay"]
    assert (extensions["checked"], extensions["checked_against"]) == (True, "sdk")
