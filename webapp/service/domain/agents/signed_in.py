"""Who an agent acts for that a person let in (``/mcp/oauth``), by its access token.

The worker, which forgets old sessions, does without it and without what it imports.
"""

from dataclasses import dataclass

from webapp.errors import Unauthorized
from webapp.people import users
from webapp.people.agents import tokens
from webapp.people.agents.grants import Grant
from webapp.service.domain.agents.sessions import Entry
from webapp.service.domain.base import scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

PREFIX = tokens.ACCESS
SCOPES = frozenset({scopes.ACTIONS, scopes.ACCOUNTS_READ})


@dataclass(frozen=True, slots=True)
class SignedInAgent:
    """An agent for whom a person signed in: where it acts, for which external user, how it came in, and its name."""

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
    """Whether the person may sign in and work there: who was made a member works where the dashboard does."""
    person = users.by_id(service.store, grant.user_id)
    if person is None or not person.enabled:
        return False
    here = (projects.default_id(service, service.store), service.settings.environment)
    return person.role != "member" or (grant.project_id, grant.environment) == here
