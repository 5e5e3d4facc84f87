"""Authenticates requests to ``/mcp``: a request's token and headers as a :class:`Visitor` (contract "Agents").

An OAuth token names the project, the environment and the external user in headers. A Connect token contains them, and
so does the token that an agent got when a person signed in for it. A request without a token is answered with the place
to sign in: protected resource metadata (RFC 9728), and the challenge that names it.

Agents that run in a browser call from a page. The browser's cookies and passwords do not count: the page has the token.
So the token says which origins may use it, and any page without a token may read how to sign in. A page of another
origin that gets hold of a token, or resolves its own name to this machine (DNS rebinding), is refused.
"""

from dataclasses import dataclass
from typing import Any

from flask import Response
from werkzeug.datastructures import Headers

from webapp.errors import Invalid, NotFound
from webapp.kit.origins import exact_origin, origin_of
from webapp.people.agents import tokens
from webapp.service.api import agent_sign_in
from webapp.service.api.base import cors
from webapp.service.domain.access import callers
from webapp.service.domain.access.callers import Caller
from webapp.service.domain.agents import sign_ins
from webapp.service.domain.agents.sessions import Entry
from webapp.service.domain.agents.sign_ins import SignedInAgent
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.service.mcp import clients

PROJECT_HEADER, ENVIRONMENT_HEADER = "x-pd-project-id", "x-pd-environment"
USER_HEADER, APP_HEADER = "x-pd-external-user-id", "x-pd-app-slug"
HEADERS = (PROJECT_HEADER, ENVIRONMENT_HEADER, USER_HEADER, APP_HEADER)
PATH = "/mcp"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True, slots=True)
class Visitor:
    """The caller, its scene and its user.

    ``apps`` are the slugs that the client asked for; empty for all. ``signed_in`` is the agent, if a person signed in
    for it.
    """

    caller: Caller
    scene: Scene
    external_id: str
    apps: tuple[str, ...] = ()
    signed_in: SignedInAgent | None = None

    @property
    def entry(self) -> Entry:
        """The credential that the agent presented."""
        if self.signed_in is not None:
            return self.signed_in.entry
        if (token := self.caller.connect) is not None:
            return Entry("token", token.client_id or "", token.token_hash)
        return Entry("client", self.caller.client_id or "")

    def user(self, service: Service) -> ExternalUser | None:
        """The external user, or None if it does not exist yet."""
        if self.caller.connect is not None:
            return self.caller.connect.user
        return external_users.find(service.store, self.scene, self.external_id)


def identify(service: Service, bearer: str, headers: Headers) -> Visitor:
    """Return the caller of a request and the user for whom it works.

    Raises :class:`webapp.errors.Unauthorized`, ``Forbidden``, ``Invalid`` and ``NotFound``.
    """
    if bearer.startswith(sign_ins.PREFIX):
        return _of_person(service, bearer, headers)
    caller = callers.authenticate(service, bearer)
    caller.refuse_user_key()
    caller.require(token_scopes.ACTIONS)
    project_id = headers.get(PROJECT_HEADER)
    if project_id is None and caller.connect is None:
        raise Invalid(f"Send the header {PROJECT_HEADER} with the project's id (proj_…).")
    scene = callers.scene(service, caller, project_id, headers.get(ENVIRONMENT_HEADER))
    return Visitor(caller, scene, _external_id(caller, headers.get(USER_HEADER)), _apps(service, headers))


def _of_person(service: Service, bearer: str, headers: Headers) -> Visitor:
    """The user of an agent for which a person signed in: that person, in the scene they chose.

    Headers do not change that.
    """
    agent = sign_ins.recognise(service, bearer)
    caller = Caller(sign_ins.SCOPES, person_id=agent.external_id)
    caller.require(token_scopes.ACTIONS)
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


def admits(service: Service, origin: str, bearer: str) -> bool:
    """Whether a page of ``origin`` with ``bearer`` may read the response.

    The token of a sign-in may be used at the origin to which that sign-in returned; the 401 of an ended one is for all.
    """
    if cors.admits(service, origin, bearer):
        return True
    if exact_origin(origin) != origin:
        return False
    if bearer.startswith(sign_ins.PREFIX):
        grant = tokens.grant_of(service.store, bearer, service.clock())
        return grant is None or origin_of(grant.redirect_uri) == origin
    return not bearer


def open_to(service: Service, answer: Response, origin: str, bearer: str) -> None:
    """Let a page of ``origin`` read ``answer`` and the headers it needs, if allowed."""
    if admits(service, origin, bearer):
        cors.open_to(answer, origin)
        answer.headers["Access-Control-Expose-Headers"] += f", {clients.SESSION_HEADER}, WWW-Authenticate"


def resource(service: Service) -> dict[str, Any]:
    """The protected resource metadata (RFC 9728 section 2).

    If the dashboard works with another service, nobody can sign in here, and agents need a token.
    """
    home = service.settings.public_url
    servers = {} if service.settings.connect_url else {"authorization_servers": [agent_sign_in.issuer(service)]}
    return {
        "resource": f"{home}{PATH}",
        **servers,
        "scopes_supported": [agent_sign_in.SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Patchbay",
        "resource_documentation": f"{home}/docs/agents",
    }


def challenge(service: Service, *, known: bool) -> str:
    """``WWW-Authenticate`` of a 401 (RFC 9728 section 5.1); ``known`` says that there was no token, so it reports no
    invalid one."""
    url = f'resource_metadata="{service.settings.public_url}{WELL_KNOWN}{PATH}"'
    return f"Bearer {url}" if known else f'Bearer error="invalid_token", {url}'
