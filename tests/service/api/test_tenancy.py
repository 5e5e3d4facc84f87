"""Nothing of somebody else's is there: every operation that names a thing, asked by everybody whose it is not.

Another user's, another environment's and another project's things answer byte for byte as what does not exist, and
nothing comes of it. What names none, a list or a count, shows a frontend nothing of others. Generated from the table of
operations: a new one is asked here too.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.fakes.user_data import UserData, absent_user_data, plant_user_data
from tests.service.api.conftest import World
from webapp.service.api.base.operations import Operation
from webapp.service.api.table import OPERATIONS
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

NAMED = {"account_id", "trigger_id", "webhook_id", "delivery_id", "run_id", "oauth_app_id", "app_override_id",
         "agent_id", "approval_id"}  # fmt: skip
OF_PROJECT = {"oauth_app_id", "app_override_id"}  # both environments share them
IN_QUERY = {"account_id", "s3_key"}
KEPT = (
    "accounts", "account_history", "deployed_triggers", "trigger_accounts", "trigger_workflows", "endpoints", "events",
    "deliveries", "delivery_attempts", "runs", "stashed_files", "provider_clients", "app_overrides", "external_users",
    "dynamic_props", "projects", "project_logos", "audit", "agent_sessions", "agent_approvals",
)  # fmt: skip
ME = "L21l"  # /me
# What is there may still say no: the name is taken, the app cannot revoke or has no family, it only GETs.
OWN_ANSWERS = {"update_app_override": 409, "revoke_account": 409, "share_oauth_app": 400,
               "take_events_secret": 409, "proxy_post": 400,
               "proxy_put": 501, "proxy_patch": 501, "proxy_delete": 501}  # fmt: skip


def parameters(operation: Operation) -> set[str]:
    """The names of things in the address, and in the query where it cannot be left out."""
    found = set(re.findall(r"<(?:\w+:)?(\w+)>", operation.path)) & NAMED
    required = {name for name in IN_QUERY if operation.query and _is_required(operation, name)}
    return found | required


def _is_required(operation: Operation, name: str) -> bool:
    field = operation.query.model_fields.get(name) if operation.query else None
    return field is not None and field.is_required()


def names_nothing(operation: Operation) -> bool:
    """Whether it gathers what there is of a user: neither its address nor its query has to name a thing."""
    fields = operation.query.model_fields if operation.query else {}
    named = {name for name, field in fields.items() if field.is_required()} - {"external_user_id"}
    return operation.in_project and "<" not in operation.path and not named


NAMING = [one for one in OPERATIONS if one.in_project and parameters(one)]
GATHERING = [one for one in OPERATIONS if one.method == "GET" and one.connect and names_nothing(one)]
OF_A_PROJECT = [one for one in OPERATIONS if "<project_id>" in one.path and not one.public]


@dataclass
class Town:
    """Alice at home, and everybody who is not her: another user, environment and project."""

    world: World
    mine: UserData
    strangers: dict[str, UserData]
    other: Scene
    settle: Callable[[Scene, str], UserData]

    def kept(self) -> dict[str, list[Any]]:
        """Everything that there is."""
        return {table: self.world.service.store.all(f"SELECT * FROM {table} ORDER BY 1") for table in KEPT}

    def ask(self, operation: Operation, token: str, scene: Scene, ids: dict[str, str], user: str = "alice") -> Any:
        """Call ``operation`` about the things ``ids``, as things of ``user`` in ``scene``."""
        known = {**ids, "url_64": ME}
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: known[match[1]], operation.path)
        if operation.in_project:
            path = f"/v1/connect/{scene.project_id}{path[1:]}"
        query = {name: ids[name] for name in parameters(operation) & IN_QUERY if f"<{name}>" not in operation.path}
        if operation.query and "external_user_id" in operation.query.model_fields:
            query["external_user_id"] = user
        body = {"json": operation.example.body} if operation.body else {}
        headers = {"x-pd-environment": scene.environment}
        return self.world.call(operation.method, path, token, query_string=query, headers=headers, **body)


@pytest.fixture(scope="module")
def town(shared: World, plant_in: Callable[[Service, Scene], Callable[..., Account]]) -> Town:
    def made(scene: Scene, user: str) -> UserData:
        return plant_user_data(shared.service, plant_in(shared.service, scene), scene, user)

    here, other = shared.scene, Scene(projects.create(shared.service, name="Other").id, "development")
    strangers = {
        "another user": made(here, "bob"),
        "another environment": made(Scene(here.project_id, "production"), "alice"),
        "another project": made(other, "alice"),
    }
    return Town(shared, made(here, "alice"), strangers, other, made)


def callers(town: Town, operation: Operation) -> Iterator[tuple[str, Scene, dict[str, UserData]]]:
    """Every kind of token that may call ``operation``, where it calls, and whose things it must not meet."""
    world, here = town.world, town.world.scene
    shared_by_both = not parameters(operation) - OF_PROJECT
    named_alone = shared_by_both or not (operation.query and "external_user_id" in operation.query.model_fields)
    # A server sees every user, unless the call says whose thing it is; and what is the project's is in both its
    # environments.
    strangers = {
        label: one
        for label, one in town.strangers.items()
        if not (label == "another user" and named_alone) and not (label == "another environment" and shared_by_both)
    }
    yield world.server(), here, strangers
    yield world.server(project_id=here.project_id), here, strangers
    yield world.server(project_id=town.other.project_id), town.other, {"the first project": town.mine}
    if operation.connect:
        yield world.frontend("alice"), here, town.strangers
        yield (
            world.frontend("alice", Scene(here.project_id, "production")),
            Scene(here.project_id, "production"),
            {"the other environment": town.mine},
        )
        yield world.frontend("alice", town.other), town.other, {"the first project": town.mine}


def seen(answer: Any) -> tuple[Any, ...]:
    """All of an answer but for its number and how a limit stands."""
    headers = [pair for pair in answer.headers.items() if not pair[0].startswith(("X-Request-Id", "X-RateLimit-"))]
    return answer.status_code, answer.data, sorted(headers)


@pytest.mark.parametrize("operation", NAMING, ids=lambda one: one.name)
def test_what_is_not_yours_is_not_there(town: Town, operation: Operation) -> None:
    everybody = list(callers(town, operation))
    before = town.kept()
    for token, scene, strangers in everybody:
        nothing = town.ask(operation, token, scene, absent_user_data(scene, "alice").ids)
        assert nothing.status_code == 404 and set(nothing.json) == {"error"}, nothing.data
        for label, stranger in strangers.items():
            assert seen(town.ask(operation, token, scene, stranger.ids)) == seen(nothing), label
    assert town.kept() == before


@pytest.mark.parametrize("operation", GATHERING, ids=lambda one: one.name)
def test_what_names_nothing_tells_a_frontend_nothing_of_others(town: Town, operation: Operation) -> None:
    """Its lists and counts are the same however much others have: of charlie, who has nothing."""
    here = town.world.scene
    token = town.world.frontend("charlie")
    nothing = town.ask(operation, token, here, town.mine.ids, "charlie")
    for scene in (here, Scene(here.project_id, "production"), town.other):
        town.settle(scene, "bob")
    assert nothing.status_code == 200, nothing.data
    assert seen(town.ask(operation, token, here, town.mine.ids, "charlie")) == seen(nothing)


@pytest.mark.parametrize("operation", [one for one in NAMING if len(parameters(one)) > 1], ids=lambda one: one.name)
def test_what_belongs_to_another_thing_is_not_below_ones_own(town: Town, operation: Operation) -> None:
    inner, (frontend, server) = (
        parameters(operation) - {"trigger_id"},
        (town.world.frontend("alice"), town.world.server()),
    )
    before = town.kept()

    def ask(token: str, things: UserData) -> Any:
        ids = {**town.mine.ids, **{name: things.ids[name] for name in inner}}
        return town.ask(operation, token, town.mine.scene, ids)

    for token in (frontend, server):
        nothing = ask(token, absent_user_data(town.mine.scene, "alice"))
        assert nothing.status_code == 404
        assert all(seen(ask(token, stranger)) == seen(nothing) for stranger in town.strangers.values())
    assert town.kept() == before


@pytest.mark.parametrize("operation", NAMING, ids=lambda one: one.name)
def test_what_is_yours_is_there(town: Town, operation: Operation) -> None:
    """The other half: the same calls about one's own things succeed, so that a 404 above means what it says."""
    world, here = town.world, town.world.scene
    tokens = [world.server(), world.server(project_id=here.project_id)]
    for token in [*tokens, world.frontend("alice")] if operation.connect else tokens:
        answer = town.ask(operation, token, here, town.settle(here, "alice").ids)
        assert answer.status_code in (200, 204, OWN_ANSWERS.get(operation.name)), answer.data


@pytest.mark.parametrize(
    "operation",
    [one for one in NAMING if one.query and "external_user_id" in one.query.model_fields],
    ids=lambda one: one.name,
)
def test_naming_another_user_is_403_for_a_frontend_and_404_for_a_server(town: Town, operation: Operation) -> None:
    bobs, here = town.strangers["another user"], town.world.scene
    refused = town.ask(operation, town.world.frontend("alice"), here, bobs.ids, user="bob")
    unknown = town.ask(operation, town.world.frontend("alice"), here, bobs.ids, user="nobody")
    assert (refused.status_code, unknown.status_code) == (403, 403) and refused.data == unknown.data
    nobodys = town.ask(operation, town.world.server(), here, town.mine.ids, user="nobody")
    bobs_not = town.ask(operation, town.world.server(), here, town.mine.ids, user="bob")
    assert nobodys.status_code == 404 and seen(nobodys) == seen(bobs_not)


@pytest.mark.parametrize("operation", OF_A_PROJECT, ids=lambda one: one.name)
def test_a_client_of_one_project_does_not_see_another(town: Town, operation: Operation) -> None:
    token = town.world.server(project_id=town.other.project_id)
    before = town.kept()
    theirs = town.ask(operation, token, town.other, {"project_id": town.mine.scene.project_id})
    nothing = town.ask(operation, token, town.other, {"project_id": "proj_none"})
    assert nothing.status_code == 404 and seen(theirs) == seen(nothing)
    assert town.kept() == before


def test_a_user_of_another_environment_or_project_is_not_there(town: Town) -> None:
    world, here = town.world, town.world.scene
    for scene in (Scene(here.project_id, "production"), town.other):
        town.settle(scene, "carol")
    token = world.server()
    before = town.kept()
    for method, rest in (("DELETE", ""), ("GET", "/accounts")):
        carol, nobody = (world.call(method, f"P/users/{who}{rest}", token) for who in ("carol", "nobody"))
        assert seen(carol) == seen(nobody)
    assert (carol.status_code, carol.json) == (200, [])
    assert town.kept() == before


def bodies(ids: dict[str, str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Calls that name a thing in their body, by the name of the thing."""
    own, account = {"external_user_id": "alice"}, {"authProvisionId": ids["account_id"]}
    task = {"id": "~/make-task", **own}
    timer = {"id": "schedule-custom-interval", **own, "configured_props": {"cron": {"intervalSeconds": 900}}}
    return {
        "an account to run with": ("actions/run", {**task, "configured_props": {"account": account, "title": "x"}}),
        "an account to look with": (
            "actions/configure", {**task, "prop_name": "project_id", "configured_props": {"account": account}},
        ),
        "an account to reload with": (
            "actions/props", {**task, "configured_props": {"account": account, "project_id": "p1"}},
        ),
        "an account to watch with": (
            "triggers/deploy", {"id": "~/poll", **own, "configured_props": {"account": account}},
        ),
        "a list of props": ("actions/run", {**task, "dynamic_props_id": ids["dynamic_props_id"]}),
        "a workflow": ("triggers/deploy", {**timer, "workflow_id": ids["workflow_id"]}),
    }  # fmt: skip


NO_ACCOUNT = b'"errors":["There is no such account."]'


@pytest.mark.parametrize("what", list(bodies(dict.fromkeys(("account_id", "dynamic_props_id", "workflow_id"), ""))))
def test_what_is_not_yours_in_a_body_is_like_what_is_not_there(
    town: Town, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quotas = town.world.service.settings.quotas
    monkeypatch.setitem(quotas, "USER_TRIGGERS", 10_000)  # other tests deployed, too
    here, asking = town.world.scene, (town.world.frontend("alice"), town.world.server())
    before = town.kept()
    strangers = dict(town.strangers)
    if what == "a workflow":
        del strangers["another user"]  # workflows are the environment's, not a user's
    for token in asking:

        def ask(ids: dict[str, str], token: str = token) -> tuple[int, bytes]:
            path, body = bodies(ids)[what]
            answer = town.world.post(f"P/{path}", token, json=body)
            told = answer.data
            for one in ids.values():
                told = told.replace(one.encode(), b"ID")
            return answer.status_code, told

        nothing = ask(absent_user_data(here, "alice").ids)
        assert nothing[0] in (400, 404) or (nothing[0] == 200 and NO_ACCOUNT in nothing[1]), nothing
        for label, stranger in strangers.items():
            assert ask(stranger.ids) == nothing, label
    assert town.kept() == before


QUERIES = [
    ("accounts", "oauth_app_id"), ("activity", "account_id"), ("activity", "trigger_id"),
    ("deployed-triggers/{trigger_id}/deliveries", "event_id"), ("deployed-triggers/{trigger_id}/events", "event_id"),
    ("deployed-triggers/{trigger_id}/events", "after"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "name"), QUERIES)
def test_a_filter_by_what_is_not_yours_finds_what_a_filter_by_nothing_finds(town: Town, path: str, name: str) -> None:
    def ask(ids: dict[str, str], token: str) -> tuple[int, bytes]:
        query = {name: ids["event_id" if name == "after" else name], "external_user_id": "alice"}
        answer = town.world.get(f"P/{path.format(**town.mine.ids)}", token, query_string=query)
        return answer.status_code, answer.data

    for token in (town.world.frontend("alice"), town.world.server()):
        nothing = ask(absent_user_data(town.mine.scene, "alice").ids, token)
        assert {ask(one.ids, token) for one in town.strangers.values()} == {nothing}


LISTS = (
    "accounts", "activity", "runs", "users/alice/accounts", "deployed-triggers?emitter_type=all", "oauth_apps",
    "app_overrides", "users", "projects/info", "audit",
)  # fmt: skip


@pytest.mark.parametrize("path", LISTS)
def test_lists_show_ones_own_only(town: Town, path: str) -> None:
    """No id of anybody else's stands anywhere in a list."""
    more = f"{'&' if '?' in path else '?'}limit=100"
    server = town.world.get(f"P/{path}{more}", town.world.server()).text
    frontend = town.world.get(f"P/{path}{more}", town.world.frontend("alice")).text
    for label, stranger in town.strangers.items():
        for name, thing in stranger.ids.items():
            if name == "project_id" or (label != "another project" and name in OF_PROJECT):
                continue
            assert thing not in frontend, (label, name)
            # A server sees every user, unless the list is one user's.
            assert thing not in server or (label == "another user" and path != "users/alice/accounts"), (label, name)
