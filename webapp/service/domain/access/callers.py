"""Callers: who sent a bearer token, and what they may access (contract "Who may call what")."""

from dataclasses import dataclass

from webapp import audit
from webapp.audit import Actor
from webapp.connect_token_facts import PREFIX
from webapp.errors import Forbidden, Invalid, NotFound, Unauthorized
from webapp.people import api_keys, users
from webapp.service.domain.access import access_tokens, connect_tokens, oauth_clients
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import projects
from webapp.service.domain.projects.projects import Scene

OF_ANOTHER_USER = "This Connect token is for another external user."


@dataclass(frozen=True, slots=True)
class Caller:
    """An OAuth client, the frontend that holds a Connect token (``connect`` is then set), or a person with an API key
    (``person_id`` is then set)."""

    scopes: frozenset[str]
    client_id: str | None = None
    project_id: str | None = None
    connect: ConnectToken | None = None
    person_id: str | None = None

    @property
    def actor(self) -> Actor:
        """Who acts when this caller does."""
        if self.connect is not None:
            return Actor("user", self.connect.user.external_id)
        if self.person_id is not None:
            return Actor("person", self.person_id)
        if self.client_id == oauth_clients.DASHBOARD_ID and (actor := audit.ACTOR.get()).kind == "person":
            return actor  # who is signed in to the dashboard; a request from outside begins without anybody
        return Actor("client", self.client_id or "")

    @property
    def is_dashboard(self) -> bool:
        """Whether the caller is the embedded dashboard, or has a Connect token that the dashboard created."""
        return (self.connect.client_id if self.connect else self.client_id) == oauth_clients.DASHBOARD_ID

    def require(self, *needed: str) -> None:
        """Raise :class:`Forbidden` unless one of the scopes ``needed`` is granted; without any, every token may."""
        if needed and not any(token_scopes.covers(self.scopes, scope) for scope in needed):
            raise Forbidden(f"This needs the scope {' or '.join(needed)}, which the token does not have.")

    def require_oauth(self) -> None:
        """Raise :class:`Forbidden` for a Connect token."""
        if self.connect is not None:
            raise Forbidden("A Connect token may not do this; call it from your server with an OAuth access token.")

    def require_workspace(self) -> None:
        """Raise :class:`Forbidden` for a client that was made for one project."""
        if self.project_id is not None:
            raise Forbidden("This OAuth client was made for one project; this takes one of the whole workspace.")

    def refuse_user_key(self) -> None:
        """Raise :class:`Forbidden` for a user API key, which few operations take."""
        if self.person_id is not None:
            raise Forbidden("A user API key may not do this; call it with an OAuth access token.")

    def user_filter(self, external_user_id: str | None) -> str | None:
        """The external user a list is limited to: the token's own, or the one that was asked for.

        Raises :class:`Forbidden` when a Connect token names another user.
        """
        if self.connect is None:
            return external_user_id
        own = self.connect.user.external_id
        if external_user_id is not None and external_user_id != own:
            raise Forbidden(OF_ANOTHER_USER)
        return own


def authenticate(service: Service, bearer: str) -> Caller:
    """Return the caller who sent ``bearer``. Raises :class:`Unauthorized`."""
    if not bearer:
        raise Unauthorized
    if bearer.startswith(PREFIX):
        token = connect_tokens.verify(service, bearer)
        return Caller(token.scopes, project_id=token.scene.project_id, connect=token)
    if bearer.startswith(api_keys.PREFIX):
        return Caller(frozenset({token_scopes.ALL}), person_id=_person(service, bearer))
    client, granted = access_tokens.verify(service, bearer)
    return Caller(granted, client_id=client.id, project_id=client.project_id)


def _person(service: Service, key: str) -> str:
    person_id = api_keys.owner_id(service.store, key)
    person = users.by_id(service.store, person_id) if person_id is not None else None
    if person is None or not person.enabled:
        raise Unauthorized("The user API key is not known or was replaced; look in Settings.")
    return person.id


def scene(service: Service, caller: Caller, project_id: str | None, environment: str | None) -> Scene:
    """The scene that a request on a project's path works in.

    With a Connect token it is the token's own, and the path and header may only agree with it; with an OAuth token
    the path names the project and ``x-pd-environment`` the environment. Raises :class:`Invalid` (no or a bad
    environment), :class:`Forbidden` (another environment), :class:`NotFound` (another or no project).
    """
    if caller.connect is not None:
        own = caller.connect.scene
        if project_id is not None and project_id != own.project_id:
            raise NotFound("There is no such project.")
        if environment and projects.environment(environment) != own.environment:
            raise Forbidden(f"This Connect token works in the environment {own.environment} only.")
        return own
    if project_id is None:
        raise NotFound("Put the project's id into the path: /v1/connect/{project_id}/…")
    if not environment:
        raise Invalid("Send the header x-pd-environment with development or production.")
    checked = projects.environment(environment)
    projects.get(service.store, project_id, only=caller.project_id)
    return Scene(project_id, checked)
