"""Who is calling, and in which scene."""

import pytest

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Forbidden, Invalid, NotFound, Unauthorized
from webapp.service.domain.access import access_tokens, callers, connect_tokens, oauth_clients
from webapp.service.domain.access.callers import Caller
from webapp.service.domain.access.connect_tokens import TokenRequest
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Project, Scene


@pytest.fixture
def frontend(service: Service, scene: Scene) -> Caller:
    token = connect_tokens.create(service, scene, TokenRequest("alice", scope="connect:accounts:read"), client_id=None)[
        "token"
    ]
    return callers.authenticate(service, token)


@pytest.fixture
def server(service: Service) -> Caller:
    client, _ = oauth_clients.create(service, name="Server")
    return callers.authenticate(service, access_tokens.issue(service, client, None).token)


def test_the_two_kinds_of_token(server: Caller, frontend: Caller, project: Project) -> None:
    assert server.connect is None and server.project_id is None
    assert frontend.connect is not None and frontend.project_id == project.id


@pytest.mark.parametrize("bearer", ["", "nonsense", "ctok_", "ctok_" + "0" * 32])
def test_anything_else_is_nobody(service: Service, bearer: str) -> None:
    with pytest.raises(Unauthorized):
        callers.authenticate(service, bearer)


def test_scopes_are_asked_for(server: Caller, frontend: Caller) -> None:
    server.require("connect:projects:write")
    frontend.require()
    frontend.require("connect:accounts:write", "connect:accounts:read")
    with pytest.raises(Forbidden, match="connect:accounts:write"):
        frontend.require("connect:accounts:write")
    server.require_oauth()
    with pytest.raises(Forbidden, match="from your server"):
        frontend.require_oauth()


def test_a_frontend_sees_its_own_user_only(server: Caller, frontend: Caller) -> None:
    assert (server.user_filter(None), server.user_filter("bob")) == (None, "bob")
    assert (frontend.user_filter(None), frontend.user_filter("alice")) == ("alice", "alice")
    with pytest.raises(Forbidden):
        frontend.user_filter("bob")


def test_the_scene_of_a_frontend_is_its_tokens(service: Service, frontend: Caller, scene: Scene) -> None:
    assert callers.scene(service, frontend, None, None) == scene
    assert callers.scene(service, frontend, scene.project_id, "development") == scene
    with pytest.raises(NotFound):
        callers.scene(service, frontend, "proj_other", None)
    with pytest.raises(Forbidden):
        callers.scene(service, frontend, None, "production")
    with pytest.raises(Invalid):
        callers.scene(service, frontend, None, "staging")


def test_a_server_names_its_scene(service: Service, server: Caller, project: Project) -> None:
    assert callers.scene(service, server, project.id, "production") == Scene(project.id, "production")
    for environment in (None, "", "staging"):
        with pytest.raises(Invalid):
            callers.scene(service, server, project.id, environment)
    with pytest.raises(NotFound):
        callers.scene(service, server, None, "production")
    with pytest.raises(NotFound):
        callers.scene(service, server, "proj_none", "production")


def test_a_client_of_one_project_does_not_see_the_other(service: Service, project: Project) -> None:
    other = projects.create(service, name="Other")
    client, _ = oauth_clients.create(service, name="Server", project_id=project.id)
    caller = callers.authenticate(service, access_tokens.issue(service, client, None).token)
    assert callers.scene(service, caller, project.id, "development").project_id == project.id
    with pytest.raises(NotFound):
        callers.scene(service, caller, other.id, "development")


def test_what_a_person_does_in_the_dashboard_is_their_doing(service: Service, server: Caller) -> None:
    own = oauth_clients.find(service, oauth_clients.DASHBOARD_ID)
    assert own is not None
    dashboard = callers.authenticate(service, access_tokens.issue(service, own, None).token)
    assert dashboard.actor == Actor("client", "dashboard"), "a request from outside, even with the dashboard's secret"
    with audit.acting(Actor("person", "u_olga")):
        assert dashboard.actor == Actor("person", "u_olga")
        assert server.actor == Actor("client", server.client_id or "")
    with audit.acting(Actor("command", "patchbay")):
        assert dashboard.actor == Actor("client", "dashboard")
