"""The choices of an app's own props, offered by operations of its whole API that ask for the same thing."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openapi_documents import body, document, query
from webapp.service.catalog.importing import actions
from webapp.service.catalog.importing.actions import Action, App
from webapp.service.catalog.importing.files import toml, versioned
from webapp.service.catalog.importing.lookups import NOT_SENT, Lookups, Own, errors, renamed
from webapp.service.catalog.importing.operations import listed
from webapp.service.components.declared.definition import examine

BASE = "https://api.acme.example/v1"
SHARED = """
[errors]
failing = { path = "ok" }
message = "error"

[props.account]
type = "app"
app = "acme"

[props.repository]
type = "string"
label = "Repository"
pattern = "[^/]+/[^/]+"
advice = "Write owner/name."
use_query = true
options = { url = "/user/repos", label = "{$item.full_name}", value = "{$item.full_name}" }

[props.issue_number]
type = "integer"
label = "Issue"
options = { url = "/repos/{repository|path}/issues", label = "{$item.number} {repository}", value = "{$item.number}" }

[props.labels]
type = "string[]"
label = "Labels"
options = { url = "/repos/{repository|path}/labels", value = "{$item.name}" }

[props.workspace]
type = "string"
label = "Workspace"
options = { url = "/workspaces", items = "data", value = "{$item.gid}" }

[props.project]
type = "string"
label = "Project"
use_query = true
options = { url = "/projects", params = { workspace = "{workspace}" }, items = "data", value = "{$item.gid}" }

[props.channel]
type = "string"
label = "Channel"
options = { method = "POST", url = "/channels.list", form = { types = "im" }, items = "channels", value = "{$item.id}" }
"""
OWN = {
    "get-issue": """
props = { account = { use = "account" }, repository = { use = "repository" }, issue_number = { use = "issue_number" } }
request = { url = "/repos/{repository|path}/issues/{issue_number}" }
""",
    "label-issue": """
props = { account = { use = "account" }, repository = { use = "repository" }, labels = { use = "labels" } }
request = { method = "POST", url = "/repos/{repository|path}/issues", json = { labels = "{labels}" } }
""",
    "list-tasks": """
props = { account = { use = "account" }, workspace = { use = "workspace" }, project = { use = "project" } }
request = { url = "https://api.acme.example/v1/tasks", params = { project = "{project}", order = "{project|lower}" } }
""",
    "get-project": """
props = { account = { use = "account" }, workspace = { use = "workspace" }, project = { use = "project" } }
request = { url = "/projects/{project}/tasks" }
""",
    "send": """
props = { account = { use = "account" }, channel = { use = "channel" } }
request = { method = "POST", url = "/chat.send", form = { channel = "{channel}" } }
""",
}
HEAD = 'name = "{name}"\nversion = "0.0.1"\ndescription = "Does it."\nhints = "reads"\nsummary = "Done"\n'


@pytest.fixture
def own(tmp_path: Path) -> list[Path]:
    """The files of the app's own components, which are valid ones."""
    folder = tmp_path / "acme" / "actions"
    folder.mkdir(parents=True)
    (folder.parent / "shared.toml").write_text(SHARED, "utf-8")
    files = []
    for name, text in OWN.items():
        file = folder / f"{name}.toml"
        file.write_text(HEAD.format(name=name) + text, "utf-8")
        assert examine(file)[1] == []
        files.append(file)
    return files


def offered(own: list[Path], paths: dict[str, Any], id_: str) -> Action:
    """The action of one operation of a document with ``paths``; its file is a valid one."""
    read = document(paths)
    every = listed(read)
    app = App("acme", BASE, "")

    def meanings(number: int) -> dict[str, str]:
        return dict(actions.action(read, every[number], "it", app, {}).props)

    drafts = {(each.method, each.path): (lambda number=number: meanings(number)) for number, each in enumerate(every)}
    wanted = next(each for each in every if each.id == id_)
    action = Lookups(Own(own, BASE, {"/v0/old": "/new"}), drafts).offered(
        actions.action(read, wanted, "it", app, {}), wanted.path
    )
    file = own[0].parent / "it.toml"
    file.write_bytes(toml(versioned(action.toml, "0.0.1")))
    assert examine(file)[1] == []
    return action


def path_params(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


REPOSITORY = path_params("owner", "repo")
NUMBER = {"name": "issue_number", "in": "path", "required": True, "schema": {"type": "integer"}}
GITHUB: dict[str, Any] = {
    "/repos/{owner}/{repo}/issues": {"post": {"parameters": REPOSITORY, **body({"type": "object", "properties": {
        "labels": {"type": "array", "items": {"type": "string"}}, "title": {"type": "string"}}})}},
    "/repos/{owner}/{repo}/issues/{issue_number}": {"get": {"parameters": [*REPOSITORY, NUMBER]}},
    "/repos/{owner}/{repo}/issues/{issue_number}/lock": {"put": {"parameters": [*REPOSITORY, NUMBER]}},
    "/repos/{owner}/{repo}/runners/labels": {"put": {"parameters": REPOSITORY, **body({"type": "object", "properties": {
        "labels": {"type": "array", "items": {"type": "string"}}}})}},
    "/teams/{team}/repos/{owner}/{repo}": {"get": {"parameters": [*path_params("team"), *REPOSITORY]}},
    "/owners/{owner}": {"get": {"parameters": path_params("owner")}},
}  # fmt: skip


def test_one_prop_is_asked_for_in_place_of_those_that_it_stands_for(own: list[Path]) -> None:
    lock = offered(own, GITHUB, "PUT /repos/{owner}/{repo}/issues/{issue_number}/lock").toml
    assert list(lock["props"]) == ["account", "repository", "issue_number"]
    assert lock["request"]["url"] == "/repos/{repository|path}/issues/{issue_number}/lock"
    repository, number = lock["props"]["repository"], lock["props"]["issue_number"]
    assert (repository["label"], repository["pattern"], repository["use_query"]) == ("Repository", "[^/]+/[^/]+", True)
    assert repository["options"]["url"] == "/user/repos"
    assert "optional" not in repository
    assert number["options"]["url"] == "/repos/{repository|path}/issues"
    assert number["type"] == "integer"


def test_parameters_with_the_same_names_are_the_same_thing_behind_another_path(own: list[Path]) -> None:
    team = offered(own, GITHUB, "GET /teams/{team}/repos/{owner}/{repo}").toml
    assert team["request"]["url"] == "/teams/{team}/repos/{repository|path}"
    assert "options" not in team["props"]["team"]


def test_a_part_of_what_a_prop_stands_for_is_not_that_thing(own: list[Path]) -> None:
    owner = offered(own, GITHUB, "GET /owners/{owner}").toml
    assert owner["props"] == {"account": {"type": "app", "app": "acme"}, "owner": {"type": "string", "label": "Owner"}}


def test_a_list_has_choices_only_where_the_app_sends_them_itself(own: list[Path]) -> None:
    """Labels of issues are not those of a machine that runs jobs."""
    issue = offered(own, GITHUB, "POST /repos/{owner}/{repo}/issues").toml
    assert issue["props"]["labels"]["options"]["url"] == "/repos/{repository|path}/labels"
    assert "options" not in issue["props"]["title"]
    runner = offered(own, GITHUB, "PUT /repos/{owner}/{repo}/runners/labels").toml
    assert "options" not in runner["props"]["labels"]


ASANA: dict[str, Any] = {
    "/tasks": {"get": {"parameters": [query("project", {"type": "string"}), query("order", {"type": "string"})]},
               "post": body({"type": "object", "properties": {"project": {"type": "string"}}})},
    "/projects/{project_gid}/tasks": {"get": {"parameters": path_params("project_gid")}},
    "/projects/{project_gid}": {"get": {"parameters": path_params("project_gid")}},
    "/goals": {"get": {"parameters": [query("project", {"type": "string"}), query("id", {"type": "string"})]}},
    "/boards": {"get": {"parameters": [query("project", {"type": "integer"})]}},
    "/states": {"get": {"parameters": [query("project", {"type": "string", "enum": ["a", "b"]})]}},
    "/colours/{project_gid}": {"get": {"parameters": path_params("project_gid")}},
}  # fmt: skip


def test_what_the_choices_depend_on_is_asked_for_and_not_sent(own: list[Path]) -> None:
    project = offered(own, ASANA, "GET /projects/{project_gid}").toml
    assert list(project["props"]) == ["account", "workspace", "project_gid"]
    workspace = project["props"]["workspace"]
    assert (workspace["optional"], workspace["description"]) == (True, NOT_SENT)
    assert project["props"]["project_gid"]["options"]["params"] == {"workspace": "{workspace}"}
    assert project["props"]["project_gid"]["use_query"] is True
    assert project["request"] == {"method": "GET", "url": "/projects/{project_gid}"}


def test_what_the_operation_has_already_is_what_the_choices_depend_on(own: list[Path]) -> None:
    paths = {
        "/workspaces/{id}/find": {"get": {"parameters": [*path_params("id"), query("project", {"type": "string"})]}}
    }
    folder = own[0].parent
    (folder / "find.toml").write_text(HEAD.format(name="Find") + OWN["get-project"].replace(
        "/projects/{project}/tasks", "/workspaces/{workspace}/find"), "utf-8")  # fmt: skip
    found = offered([*own, folder / "find.toml"], {**ASANA, **paths}, "GET /workspaces/{id}/find").toml["props"]
    assert list(found) == ["account", "id", "project"]
    assert found["project"]["options"]["params"] == {"workspace": "{id}"}


def test_a_parameter_of_the_same_name_type_and_place_is_the_same_thing(own: list[Path]) -> None:
    goals = offered(own, ASANA, "GET /goals").toml["props"]
    assert goals["project"]["options"]["url"] == "/projects"
    assert "options" not in goals["id"]
    assert (
        offered(own, ASANA, "GET /colours/{project_gid}").toml["props"]["project_gid"]["options"]["url"] == "/projects"
    )


def test_behind_another_parameter_the_name_of_one_is_not_enough(own: list[Path]) -> None:
    """A project of another organization may have no such id."""
    paths = {"/organizations/{o}/projects/{project_gid}": {"get": {"parameters": path_params("o", "project_gid")}}}
    other = offered(own, {**ASANA, **paths}, "GET /organizations/{o}/projects/{project_gid}").toml["props"]
    assert "options" not in other["project_gid"]


def test_the_facts_may_say_which_path_is_the_same_as_one_of_the_apps_own(own: list[Path]) -> None:
    folder = own[0].parent
    (folder / "old.toml").write_text(
        HEAD.format(name="Old") + OWN["send"].replace("/chat.send", "/v0/old/chats/{channel}")
    )
    paths = {"/new/chats/{chat}": {"get": {"parameters": path_params("chat")}}}
    chat = offered([*own, folder / "old.toml"], paths, "GET /new/chats/{chat}").toml["props"]["chat"]
    assert chat["options"]["url"] == "/channels.list"


@pytest.mark.parametrize("id_", ["GET /boards", "GET /states", "POST /tasks"])
def test_another_type_choices_of_its_own_or_another_method_are_another_thing(id_: str, own: list[Path]) -> None:
    prop = offered(own, ASANA, id_).toml["props"]["project"]
    assert not isinstance(prop.get("options"), dict)


def test_a_value_that_the_app_changes_before_it_is_sent_is_another_thing(own: list[Path]) -> None:
    tasks = offered(own, ASANA, "GET /tasks").toml["props"]
    assert tasks["project"]["options"]["url"] == "/projects"
    assert "options" not in tasks["order"]


def test_an_app_may_take_by_one_method_what_its_document_names_for_another(own: list[Path]) -> None:
    paths = {
        "/chat.send": {"get": {"parameters": [query("channel", {"type": "string"})]}},
        "/pins.list": {"get": {"parameters": [query("channel", {"type": "string"})]}},
    }
    assert offered(own, paths, "GET /chat.send").toml["props"]["channel"]["options"]["form"] == {"types": "im"}
    assert offered(own, paths, "GET /pins.list").toml["props"]["channel"]["options"]["items"] == "channels"


def test_what_two_own_props_could_be_is_neither(own: list[Path]) -> None:
    folder = own[0].parent
    (folder / "other.toml").write_text(HEAD.format(name="Other") + OWN["list-tasks"].replace(
        "/v1/tasks", "/v1/portfolios").replace('project = { use = "project" }', 'project = { use = "project", '
        'options = { url = "/portfolios", value = "{$item.gid}" } }'), "utf-8")  # fmt: skip
    paths = {**ASANA, "/portfolios": {"get": {"parameters": [query("project", {"type": "string"})]}}}
    every = [*own, folder / "other.toml"]
    assert offered(every, paths, "GET /portfolios").toml["props"]["project"]["options"]["url"] == "/portfolios"
    assert "options" not in offered(every, paths, "GET /goals").toml["props"]["project"]


def test_nothing_is_offered_without_own_components_and_files_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    broken = tmp_path / "acme" / "actions" / "broken.toml"
    broken.parent.mkdir(parents=True)
    broken.write_text("[", "utf-8")
    for files in ([], [broken]):
        read = document(GITHUB)
        (operation, *_) = [each for each in listed(read) if each.method == "POST"]
        action = actions.action(read, operation, "it", App("acme", BASE, ""), {})
        assert (
            Lookups(Own(files, BASE), {(operation.method, operation.path): dict}).offered(action, operation.path)
            == action
        )


def test_names_are_exchanged_in_templates_only_where_they_are_names() -> None:
    before = {"url": "/{a|path}/{{a}}/{$account.a}", "more": ["{b.a|or('a', a)}", "a"], "n": 1}
    assert renamed(before, {"a": "other"}) == {
        "url": "/{other|path}/{{a}}/{$account.a}", "more": ["{b.a|or('a', other)}", "a"], "n": 1,
    }  # fmt: skip
    assert renamed("{$a|then(a)}{a|a}", {"a": "b"}) == "{$a|then(b)}{b|a}"


def test_errors_are_reported_as_the_apps_own_components_say_it(own: list[Path], tmp_path: Path) -> None:
    assert errors(own) == {"failing": {"path": "ok"}, "message": "error"}
    assert errors([tmp_path / "none" / "actions" / "a.toml"]) == {}
    assert json.dumps(errors([])) == "{}"
