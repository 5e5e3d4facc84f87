"""Authentication of agents for which a person signed in (``/mcp/oauth``), by their access tokens.

It is apart from :mod:`sessions` so that the worker, which purges sessions, need not import it.
"""

from dataclasses import dataclass

from webapp.errors import Unauthorized
from webapp.people import roles, users
from webapp.people.agents import tokens
from webapp.people.agents.grants import Grant
from webapp.service.domain.agents.sessions import Entry
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

PREFIX = tokens.ACCESS
SCOPES = frozenset({token_scopes.ACTIONS, token_scopes.ACCOUNTS_READ})


@dataclass(frozen=True, slots=True)
class SignedInAgent:
    """An agent for which a person signed in: its scene, external user, credential and name."""

    scene: Scene
    external_id: str
    entry: Entry
    name: str


def recognise(service: Service, bearer: str) -> SignedInAgent:
    """The agent with that access token. Raises :class:`Unauthorized`."""
    grant = tokens.grant_of(service.store, bearer, service.clock())
    if grant is None or not _may_act(service, grant):
        raise Unauthorized("The access token is not known or has ended; sign in again.")
    scene = Scene(grant.project_id, projects.environment(grant.environment))
    return SignedInAgent(scene, grant.user_id, Entry("person", grant.id), grant.client_name)


def _may_act(service: Service, grant: Grant) -> bool:
    """Whether the person may sign in and use the grant's scene; a member may use only the dashboard's own."""
    person = users.by_id(service.store, grant.user_id)
    if person is None or not person.enabled:
        return False
    here = (projects.default_id(service, service.store), service.settings.environment)
    return roles.may_choose_scene(person.role) or (grant.project_id, grant.environment) == here
