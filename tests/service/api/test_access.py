"""Every operation with every kind of token, generated from the table: who gets in, and how the others are told.

Expectations follow from the table's facts alone (scopes, connect, public, in_project), as WIRE "Who may call what".
"""

from typing import Any

import pytest

from webapp.kit.clock import SECOND
from webapp.service.api.operations import Operation
from webapp.service.api.table import OPERATIONS
from webapp.service.domain import projects, scopes
from webapp.service.domain.projects import Scene

GUARDED = [operation for operation in OPERATIONS if not operation.public]
IN_PROJECT = [operation for operation in GUARDED if operation.in_project]

PLACEHOLDERS = {
    "<account_id>": "apn_none", "<app>": "tinykeys", "<category_id>": "appcat_none", "<project_id>": "proj_none",
    "<path:external_user_id>": "alice", "<ctok>": "ctok_none",
    "<path:component_id>": "~/none", "<run_id>": "run_none",
}  # fmt: skip


def name(operation: Operation) -> str:
    return operation.name


def path_of(operation: Operation) -> str:
    path = operation.path
    for placeholder, value in PLACEHOLDERS.items():
        path = path.replace(placeholder, value)
    assert "<" not in path, path
    return path


def ask(world: Any, operation: Operation, token: str | None, path: str | None = None, **more: Any) -> Any:
    body = {"json": {}} if operation.body else {}
    return world.call(operation.method, path or path_of(operation), token, **body, **more)


@pytest.fixture(scope="module")
def other(shared: Any) -> Scene:
    """Another project of the same installation."""
    return Scene(projects.create(shared.service, name="Other").id, "development")


@pytest.mark.parametrize("operation", GUARDED, ids=name)
class TestWithoutAValidToken:
    def test_401_and_how_to_do_better(self, shared: Any, operation: Operation) -> None:
        expired = shared.frontend(expires_in=1)
        shared.clock.advance(SECOND)
        for token in (None, "", "garbage", "a.b.c", "é", "ctok_" + "0" * 32, "ctok_nonsense", expired, "x" * 9000):
            answer = ask(shared, operation, token)
            assert answer.status_code == 401, token
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert set(answer.json) == {"error"} and answer.json["error"].endswith(".")

    def test_other_schemes_are_no_bearer(self, shared: Any, operation: Operation) -> None:
        for header in ("Basic eDp5", "Bearer", shared.server(), f"Token {shared.server()}"):
            assert ask(shared, operation, None, headers={"Authorization": header}).status_code == 401


@pytest.mark.parametrize("operation", GUARDED, ids=name)
class TestScopes:
    def test_an_unrelated_or_missing_scope_is_403(self, shared: Any, operation: Operation) -> None:
        for scope in sorted(scopes.KNOWN):
            admitted = not operation.scopes or any(scopes.covers([scope], needed) for needed in operation.scopes)
            answer = ask(shared, operation, shared.server(scope))
            assert (answer.status_code != 403) is admitted, scope
            assert answer.status_code != 401

    def test_frontends_obey_the_same_scopes(self, shared: Any, operation: Operation) -> None:
        for scope in sorted(scopes.KNOWN - {scopes.ALL}):
            covered = not operation.scopes or any(scopes.covers([scope], needed) for needed in operation.scopes)
            answer = ask(shared, operation, shared.frontend(scope=scope))
            assert (answer.status_code != 403) is (covered and operation.connect), scope


@pytest.mark.parametrize("operation", IN_PROJECT, ids=name)
class TestScene:
    def test_a_server_must_name_its_environment(self, shared: Any, operation: Operation) -> None:
        for env in (None, "", "staging", "Development"):
            answer = ask(shared, operation, shared.server(), env=env)
            assert answer.status_code == 400 and "x-pd-environment" in answer.json["error"]

    def test_a_server_must_name_its_project(self, shared: Any, operation: Operation) -> None:
        path = path_of(operation).replace("P/", "/v1/connect/")
        assert ask(shared, operation, shared.server(), path).status_code == 404

    def test_another_clients_project_is_like_an_absent_one(
        self, shared: Any, other: Scene, operation: Operation
    ) -> None:
        token = shared.server(project_id=other.project_id)
        rest = path_of(operation)[1:]
        environment = {"x-pd-environment": "development"}
        theirs = ask(shared, operation, token, f"/v1/connect/{shared.scene.project_id}{rest}", headers=environment)
        absent = ask(shared, operation, token, f"/v1/connect/proj_none{rest}", headers=environment)
        assert theirs.status_code == absent.status_code == 404
        assert theirs.data == absent.data

    def test_a_frontend_stays_in_its_scene(self, shared: Any, other: Scene, operation: Operation) -> None:
        token = shared.frontend()
        rest = path_of(operation)[1:]
        expected = (404, 404, 403) if operation.connect else (403, 403, 403)
        theirs = ask(shared, operation, token, f"/v1/connect/{other.project_id}{rest}")
        absent = ask(shared, operation, token, f"/v1/connect/proj_none{rest}")
        elsewhere = ask(shared, operation, token, headers={"x-pd-environment": "production"})
        assert (theirs.status_code, absent.status_code, elsewhere.status_code) == expected
        assert theirs.data == absent.data

    def test_with_a_frontends_token_the_project_may_be_left_out(self, shared: Any, operation: Operation) -> None:
        token = shared.frontend()
        rest = path_of(operation)[1:]
        full = ask(shared, operation, token)
        for short in (f"/v1/connect{rest}", f"/v1/connect/{rest}", f"/v1///connect//{rest}"):
            answer = ask(shared, operation, token, short)
            assert (answer.status_code, answer.data) == (full.status_code, full.data)
            assert answer.status_code not in (301, 302, 307, 308)


@pytest.mark.parametrize("operation", [one for one in IN_PROJECT if "<account_id>" in one.path], ids=name)
class TestAccountsOfOthers:
    def test_absent_and_not_yours_are_byte_for_byte_the_same(
        self, shared: Any, other: Scene, operation: Operation
    ) -> None:
        alices, bobs = shared.plant("alice"), shared.plant("bob")
        production = Scene(shared.scene.project_id, "production")
        body = {"json": {"name": "Mine now"}} if operation.body else {}

        def at(account_id: str, token: str, **more: Any) -> Any:
            path = operation.path.replace("<account_id>", account_id)
            return shared.call(operation.method, path, token, **body, **more)

        frontend = shared.frontend("alice")
        answers = {
            "absent": at("apn_none", frontend),
            "another user's": at(bobs.id, frontend),
            "another environment's": at(alices.id, shared.frontend("alice", production)),
            "another project's": at(alices.id, shared.frontend("alice", other)),
            "another environment's, for a server": at(alices.id, shared.server(), env="production"),
        }
        assert {answer.status_code for answer in answers.values()} == {404}
        seen = {
            (answer.data, tuple(sorted(_lasting(answer)))) for key, answer in answers.items() if "project" not in key
        }
        assert len(seen) == 1
        assert shared.get(f"P/accounts/{bobs.id}", shared.server()).json["name"] is None


def _lasting(answer: Any) -> set[tuple[str, str]]:
    return {pair for pair in answer.headers.items() if pair[0] != "X-Request-Id"}


def test_the_table_is_the_one_of_the_wire_contract() -> None:
    """Each operation, the scopes that admit it and whether a frontend may call: as WIRE has it, line by line."""
    found = {(one.method, one.path): (one.scopes, one.connect) for one in GUARDED}
    read, write, project = ("connect:accounts:read",), ("connect:accounts:write",), ("connect:projects:read",)
    account, actions, triggers = "P/accounts/<account_id>", "connect:actions:*", "connect:triggers:*"
    nouns = {"components": (actions, triggers), "actions": (actions,), "triggers": (triggers,)}
    verbs = ("configure", "props")
    assert found == {
        ("POST", "P/tokens"): (("connect:tokens:create",), False),
        ("GET", "/v1/connect/apps"): ((), True),
        ("GET", "/v1/connect/apps/<app>"): ((), True),
        ("GET", "/v1/connect/app_categories"): ((), True),
        ("GET", "/v1/connect/app_categories/<category_id>"): ((), True),
        ("GET", "/v1/connect/projects"): (project, False),
        ("GET", "/v1/connect/projects/<project_id>"): (project, False),
        ("GET", "P/projects/info"): (project, True),
        ("GET", "P/accounts"): (read, True),
        ("GET", account): (read, True),
        ("GET", "P/users/<path:external_user_id>/accounts"): (read, True),
        ("POST", "P/accounts"): (write, True),
        ("DELETE", account): (write, True),
        ("DELETE", "P/apps/<app>/accounts"): (write, True),
        ("PATCH", account): (write, True),
        ("POST", f"{account}/test"): (write, True),
        ("POST", f"{account}/revoke"): (write, True),
        ("GET", f"{account}/uses"): (read, True),
        ("GET", f"{account}/history"): (read, True),
        ("GET", "P/activity"): (read, True),
        **{("GET", f"P/{noun}"): ((actions, triggers), True) for noun in nouns},
        **{("GET", f"P/{noun}/<path:component_id>"): ((actions, triggers), True) for noun in nouns},
        **{("POST", f"P/{noun}/{verb}"): (by_kind, True) for noun, by_kind in nouns.items() for verb in verbs},
        ("POST", "P/actions/run"): ((actions,), True),
        ("POST", "P/components/run"): ((actions,), True),
        ("GET", "P/runs"): ((actions,), True),
        ("GET", "P/runs/<run_id>"): ((actions,), True),
    }


def test_names_and_addresses_are_unique() -> None:
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    assert len({(one.method, rule) for one in OPERATIONS for rule in one.rules}) == sum(
        len(one.rules) for one in OPERATIONS
    )
