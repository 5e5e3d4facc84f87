"""Every operation with every kind of token, generated from the table: who gets in, and how the others are told.

Expectations follow from the table's facts alone (scopes, connect, public, in_project), as contract "Who may call what".
What belongs to somebody else stands in test_tenancy.py.
"""

import re
from typing import Any

import pytest

from tests.every import check_every, of_every
from webapp.kit.clock import SECOND
from webapp.people import api_keys, users
from webapp.service.api import proxy
from webapp.service.api.base.operations import Operation
from webapp.service.api.table import OPERATIONS
from webapp.service.domain.access import access_tokens, oauth_clients
from webapp.service.domain.base import token_scopes
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

GUARDED = [operation for operation in OPERATIONS if not operation.public]
IN_PROJECT = [operation for operation in GUARDED if operation.in_project]

KNOWN = {"app": "tinykeys", "external_user_id": "alice", "component_id": "~/none", "project_id": "proj_none",
         "url_64": "L2VjaG8", "user_id": "u_none0"}  # fmt: skip


def name(operation: Operation) -> str:
    return operation.name


def path_of(operation: Operation) -> str:
    """Its address, with something absent where an id stands. Nobody who calls below is to be deleted."""
    known = {**KNOWN, "external_user_id": "nobody"} if operation.method == "DELETE" else KNOWN
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda match: known.get(match[1], "none_0"), operation.path)


def ask(world: Any, operation: Operation, token: str | None, path: str | None = None, **more: Any) -> Any:
    body: dict[str, Any] = {"json": {}} if operation.body else {}
    return world.call(operation.method, path or path_of(operation), token, **body, **more)


@pytest.fixture(scope="module")
def other(shared: Any) -> Scene:
    """Another project of the same installation."""
    return Scene(projects.create(shared.service, name="Other").id, "development")


@pytest.fixture(scope="module")
def server_of_other(shared: Any, other: Scene, refused: dict[str, str | None]) -> str:
    """A token of a client of that project only, made once ``refused`` let the clock run on."""
    return str(shared.server(project_id=other.project_id))


@pytest.fixture(scope="module")
def refused(shared: Any) -> dict[str, str | None]:
    """Everything that is no token, or is one no more, by what is wrong with it."""
    old, rotated = shared.server(), oauth_clients.create(shared.service, name="Rotated")[0]
    revoked = access_tokens.issue(shared.service, rotated, None).token
    oauth_clients.rotate(shared.service, rotated.id)
    expired = shared.frontend(expires_in=1)
    shared.clock.advance(access_tokens.LIFETIME_S * SECOND)
    return {
        "none": None, "empty": "", "garbage": "garbage", "dots": "a.b.c", "no ASCII": "é", "long": "x" * 9000,
        "unknown": "ctok_" + "0" * 32, "malformed": "ctok_nonsense", "no API key": "pbk_none", "expired": expired,
        "expired OAuth": old, "revoked client": revoked, "altered": shared.server()[:-1] + "~",
    }  # fmt: skip


@pytest.fixture(scope="module")
def server(shared: Any, refused: dict[str, str | None]) -> str:
    """A server's token with every scope, made once ``refused`` let the clock run on. No operation ends it."""
    return str(shared.server())


@pytest.fixture(scope="module")
def frontend(shared: Any, refused: dict[str, str | None]) -> str:
    """A frontend's token, likewise."""
    return str(shared.frontend())


class TestWithoutAValidToken:
    @of_every("operation", GUARDED, name)
    def test_401_and_how_to_do_better(self, shared: Any, refused: dict[str, str | None], operation: Operation) -> None:
        for label, token in refused.items():
            answer = ask(shared, operation, token)
            assert answer.status_code == 401, label
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert set(answer.json) == {"error"} and answer.json["error"].endswith(".")

    @of_every("operation", GUARDED, name)
    def test_other_schemes_are_no_bearer(self, shared: Any, server: str, operation: Operation) -> None:
        for header in ("Basic eDp5", "Bearer", server, f"Token {server}"):
            assert ask(shared, operation, None, headers={"Authorization": header}).status_code == 401


def is_admitted(scope: str, operation: Operation) -> bool:
    """Whether a token of ``scope`` only may call ``operation``."""
    return not operation.scopes or any(token_scopes.covers([scope], needed) for needed in operation.scopes)


class TestScopes:
    """Whoever is admitted is told what a token with every scope is told; everybody else 403, before anything else."""

    def test_an_unrelated_or_missing_scope_is_403(self, shared: Any, server: str) -> None:
        tokens = {scope: shared.server(scope) for scope in sorted(token_scopes.KNOWN)}

        def check(operation: Operation) -> None:
            expected = ask(shared, operation, server).status_code
            assert expected in (200, 204, 400, 404)
            for scope, token in tokens.items():
                answer = ask(shared, operation, token)
                assert answer.status_code == (expected if is_admitted(scope, operation) else 403), scope

        check_every(GUARDED, check, name)

    def test_frontends_obey_the_same_scopes(self, shared: Any, frontend: str) -> None:
        tokens = {scope: shared.frontend(scope=scope) for scope in sorted(token_scopes.KNOWN - {token_scopes.ALL})}

        def check(operation: Operation) -> None:
            expected = ask(shared, operation, frontend).status_code if operation.connect else 403
            for scope, token in tokens.items():
                answer = ask(shared, operation, token)
                assert answer.status_code == (expected if is_admitted(scope, operation) else 403), scope

        check_every(GUARDED, check, name)


@pytest.fixture(scope="module")
def person(shared: Any) -> str:
    """Somebody who signs in, by their id."""
    store, clock = shared.service.store, shared.clock
    return users.create(store, clock, email="ada@example.com", password="ten letters", role="owner").id


@pytest.fixture(scope="module")
def user_keys(shared: Any, person: str) -> tuple[str, str]:
    """An API key of the person's, and the one that replaced it."""
    store, clock = shared.service.store, shared.clock
    return api_keys.create(store, clock, person), api_keys.create(store, clock, person)


@of_every("operation", GUARDED, name)
def test_a_user_api_key_opens_few_operations_and_a_replaced_one_none(
    shared: Any, user_keys: tuple[str, str], operation: Operation
) -> None:
    old, key = user_keys
    assert ask(shared, operation, old).status_code == 401
    answer = ask(shared, operation, key)
    opened = (200, 400, 404) if "<" in operation.path else (200, 400)
    assert (answer.status_code in opened) if operation.user_key else (answer.status_code == 403)
    assert operation.user_key is operation.path.startswith(("/v1/users/me", "/v1/webhooks"))


class TestScene:
    @of_every("operation", IN_PROJECT, name)
    def test_a_server_must_name_its_environment(self, shared: Any, server: str, operation: Operation) -> None:
        for env in (None, "", "staging", "Development"):
            answer = ask(shared, operation, server, env=env)
            assert answer.status_code == 400 and "x-pd-environment" in answer.json["error"]

    @of_every("operation", IN_PROJECT, name)
    def test_a_server_must_name_its_project(self, shared: Any, server: str, operation: Operation) -> None:
        path = path_of(operation).replace("P/", "/v1/connect/")
        assert ask(shared, operation, server, path).status_code == 404

    @of_every("operation", IN_PROJECT, name)
    def test_another_clients_project_is_like_an_absent_one(
        self, shared: Any, other: Scene, server_of_other: str, operation: Operation
    ) -> None:
        rest = path_of(operation)[1:]
        environment = {"x-pd-environment": "development"}
        theirs = ask(
            shared, operation, server_of_other, f"/v1/connect/{shared.scene.project_id}{rest}", headers=environment
        )
        absent = ask(shared, operation, server_of_other, f"/v1/connect/proj_none{rest}", headers=environment)
        assert theirs.status_code == absent.status_code == 404
        assert theirs.data == absent.data

    @of_every("operation", IN_PROJECT, name)
    def test_a_frontend_stays_in_its_scene(
        self, shared: Any, other: Scene, frontend: str, operation: Operation
    ) -> None:
        rest = path_of(operation)[1:]
        expected = (404, 404, 403) if operation.connect else (403, 403, 403)
        theirs = ask(shared, operation, frontend, f"/v1/connect/{other.project_id}{rest}")
        absent = ask(shared, operation, frontend, f"/v1/connect/proj_none{rest}")
        elsewhere = ask(shared, operation, frontend, headers={"x-pd-environment": "production"})
        assert (theirs.status_code, absent.status_code, elsewhere.status_code) == expected
        assert theirs.data == absent.data

    @of_every("operation", IN_PROJECT, name)
    def test_with_a_frontends_token_the_project_may_be_left_out(
        self, shared: Any, frontend: str, operation: Operation
    ) -> None:
        rest = path_of(operation)[1:]
        full = ask(shared, operation, frontend)
        for short in (f"/v1/connect{rest}", f"/v1/connect/{rest}", f"/v1///connect//{rest}"):
            answer = ask(shared, operation, frontend, short)
            assert (answer.status_code, answer.data) == (full.status_code, full.data)
            assert answer.status_code not in (301, 302, 307, 308)


def test_the_table_is_the_one_of_the_wire_contract() -> None:
    """Each operation, the scopes that admit it and whether a frontend may call: as contract "Who may call what" has it,
    line by line. A further extension, which is in no contract, is held to what it declares by its noun's test alone."""
    found = {(one.method, one.path): (one.scopes, one.connect) for one in GUARDED}
    read, write, project = ("connect:accounts:read",), ("connect:accounts:write",), ("connect:projects:read",)
    account, actions, triggers = "P/accounts/<account_id>", "connect:actions:*", "connect:triggers:*"
    deployed, look = "P/deployed-triggers/<trigger_id>", ("connect:deployed_triggers:read",)
    webhook, change = f"{deployed}/webhooks/<webhook_id>", ("connect:deployed_triggers:write",)
    nouns = {"components": (actions, triggers), "actions": (actions,), "triggers": (triggers,)}
    verbs = ("configure", "props")
    project_write = ("connect:projects:write",)
    any_of_the_lists = (*read, actions, "connect:agents:read", *look, *project)
    own = [
        (method, f"P/{noun}{one}")
        for noun, key in (("oauth_apps", "oauth_app_id"), ("app_overrides", "app_override_id"))
        for one, methods in (("", ("GET", "POST")), (f"/<{key}>", ("GET", "PUT", "DELETE")))
        for method in methods
    ]
    expected = {
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
        ("GET", "P/logs"): (any_of_the_lists, True),
        ("GET", "P/logs/<entry_id>"): (any_of_the_lists, True),
        ("POST", "P/triggers/deploy"): ((triggers,), True),
        ("GET", "P/deployed-triggers"): (look, True),
        ("GET", deployed): (look, True),
        ("PUT", deployed): (change, True),
        ("DELETE", deployed): (change, True),
        ("GET", f"{deployed}/logs"): (look, True),
        ("POST", f"{deployed}/test_event"): (change, True),
        ("GET", f"{deployed}/events"): (look, True),
        ("GET", f"{deployed}/stats"): (look, True),
        ("GET", f"{deployed}/overview"): (look, True),
        ("GET", "P/trigger-stats"): (look, True),
        ("GET", f"{deployed}/deliveries"): (look, True),
        ("GET", f"{deployed}/deliveries/<delivery:delivery_id>"): (look, True),
        ("POST", f"{deployed}/deliveries/<delivery_id>/resend"): (change, True),
        ("POST", f"{deployed}/deliveries/resend"): (change, True),
        ("GET", f"{deployed}/webhooks"): (look, True),
        ("PUT", f"{deployed}/webhooks"): (change, True),
        ("GET", webhook): (look, True),
        ("POST", f"{webhook}/regenerate_signing_key"): (change, True),
        ("POST", f"{webhook}/reset_delivery_state"): (change, True),
        ("GET", f"{deployed}/pipelines"): (look, True),
        ("PUT", f"{deployed}/pipelines"): (change, True),
        ("GET", "P/webhook"): (project, False),
        ("PUT", "P/webhook"): (project_write, False),
        ("DELETE", "P/webhook"): (project_write, False),
        ("POST", "P/webhook/regenerate_signing_key"): (project_write, False),
        ("GET", "P/audit"): (project, False),
        ("POST", "/v1/webhooks"): (("*",), False),
        **{("GET", f"P/{noun}"): ((actions, triggers), True) for noun in nouns},
        **{("GET", f"P/{noun}/<component:component_id>"): ((actions, triggers), True) for noun in nouns},
        **{("POST", f"P/{noun}/{verb}"): (by_kind, True) for noun, by_kind in nouns.items() for verb in verbs},
        ("POST", "P/actions/run"): ((actions,), True),
        ("POST", "P/components/run"): ((actions,), True),
        **{(method, "P/proxy/<path:url_64>"): (("connect:proxy",), True) for method in proxy.METHODS},
        ("POST", "/v1/connect/rate_limits"): (("connect:*",), False),
        ("POST", "/v1/connect/projects"): (project_write, False),
        ("PATCH", "/v1/connect/projects/<project_id>"): (project_write, False),
        ("DELETE", "/v1/connect/projects/<project_id>"): (project_write, False),
        ("POST", "/v1/connect/projects/<project_id>/logo"): (project_write, False),
        **{(method, path): (project if method == "GET" else project_write, False) for method, path in own},
        ("GET", "P/users"): (("connect:users:read",), False),
        ("DELETE", "P/users/<path:external_user_id>"): (("connect:users:write",), False),
        ("GET", "/v1/connect/usage"): (("connect:usage:read",), False),
        ("GET", "P/usage/apps"): (("connect:usage:read",), False),
        ("GET", "P/file_stash/download"): ((actions,), False),
        ("GET", "/v1/users/me"): (("*",), False),
        ("GET", "P/runs"): ((actions,), True),
        ("GET", "P/runs/<run_id>"): ((actions,), True),
    }
    further = {(one.method, one.path) for one in GUARDED if one.extension} - set(expected)
    assert {address: facts for address, facts in found.items() if address not in further} == expected, (
        "it lacks `extension=True`, or a line above and a row in the contract"
    )


def test_names_and_addresses_are_unique() -> None:
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    assert len({(one.method, rule) for one in OPERATIONS for rule in one.rules}) == sum(
        len(one.rules) for one in OPERATIONS
    )
