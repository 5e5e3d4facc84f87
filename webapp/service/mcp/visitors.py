"""Whom an agent works for: a request's token and headers as a :class:`Visitor` (contract "Agents").

An OAuth token names the project, the environment and the external user in headers. A Connect token says them itself,
and so does the token that an agent got when a person signed in for it.
"""

from dataclasses import dataclass

from werkzeug.datastructures import Headers

from webapp.errors import Invalid, NotFound
from webapp.service.domain.access import callers
from webapp.service.domain.access.callers import Caller
from webapp.service.domain.agents import signed_in
from webapp.service.domain.agents.sessions import Entry
from webapp.service.domain.agents.signed_in import SignedInAgent
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene

PROJECT_HEADER, ENVIRONMENT_HEADER = "x-pd-project-id", "x-pd-environment"
USER_HEADER, APP_HEADER = "x-pd-external-user-id", "x-pd-app-slug"
HEADERS = (PROJECT_HEADER, ENVIRONMENT_HEADER, USER_HEADER, APP_HEADER)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who calls, where, and for whom. ``apps`` are the slugs that the client asked for; empty for all. ``signed_in`` is
    the agent that a person let in, if that is how it came."""

    caller: Caller
    scene: Scene
    external_id: str
    apps: tuple[str, ...] = ()
    signed_in: SignedInAgent | None = None

    @property
    def entry(self) -> Entry:
        """How the agent comes in."""
        if self.signed_in is not None:
            return self.signed_in.entry
        if (token := self.caller.connect) is not None:
            return Entry("token", token.client_id or "", token.token_hash)
        return Entry("client", self.caller.client_id or "")

    def user(self, service: Service) -> ExternalUser | None:
        """The external user, once there is one."""
        if self.caller.connect is not None:
            return self.caller.connect.user
        return external_users.find(service.store, self.scene, self.external_id)


def identify(service: Service, bearer: str, headers: Headers) -> Visitor:
    """Whom the request works for.

    Raises :class:`webapp.errors.Unauthorized`, ``Forbidden``, ``Invalid`` and ``NotFound``.
    """
    if bearer.startswith(signed_in.PREFIX):
        return _of_person(service, bearer, headers)
    caller = callers.authenticate(service, bearer)
    caller.refuse_user_key()
    caller.require(scopes.ACTIONS)
    project_id = headers.get(PROJECT_HEADER)
    if project_id is None and caller.connect is None:
        raise Invalid(f"Send the header {PROJECT_HEADER} with the project's id (proj_…).")
    scene = callers.scene(service, caller, project_id, headers.get(ENVIRONMENT_HEADER))
    return Visitor(caller, scene, _external_id(caller, headers.get(USER_HEADER)), _apps(service, headers))


def _of_person(service: Service, bearer: str, headers: Headers) -> Visitor:
    """Whom an agent works for that a person let in: that person, where they let it in. No header changes that."""
    agent = signed_in.recognise(service, bearer)
    caller = Caller(signed_in.SCOPES, person_id=agent.external_id)
    caller.require(scopes.ACTIONS)
    return Visitor(caller, agent.scene, agent.external_id, _apps(service, headers), agent)


def _external_id(caller: Caller, wanted: str | None) -> str:
    external_id = caller.user_filter(wanted or None)
    if external_id is None:
        raise Invalid(f"Send the header {USER_HEADER} with your id of the user whom the agent works for.")
    return external_users.checked(external_id)


def _apps(service: Service, headers: Headers) -> tuple[str, ...]:
    names = [name.strip() for name in headers.get(APP_HEADER, "").split(",")]
    return tuple(dict.fromkeys(_slug(service, name) for name in names if name))


def _slug(service: Service, name: str) -> str:
    app = service.catalog.app(name)
    if app is None:
        raise NotFound(f"{APP_HEADER} names an app that is not here; look its slug up in the list of apps.")
    return app.slug
