"""The page on which a person lets an agent in: which agent, where it is told, and what it gets to do.

An agent's name is its own word, so the page shows beside it where it leads. Nothing happens before a press of Allow, by
a form of ours, of somebody who is signed in.
"""

from dataclasses import dataclass

from flask import Blueprint, abort, g, make_response, render_template, request
from werkzeug.utils import redirect
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.agents import authorization
from webapp.dashboard.agents.authorization import AuthorizationRequest
from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.models.agents import AgentAction
from webapp.dashboard.dashboard import agents, dashboard, if_up, known_accounts, viewer
from webapp.dashboard.gate import person
from webapp.errors import Invalid
from webapp.people.agents import clients, documents, grants
from webapp.people.agents.clients import AgentClient
from webapp.people.agents.grants import Consent

blueprint = Blueprint("agents_consent", __name__)
PATH = "/mcp/oauth/authorize"
MAX_APPS = 30


@dataclass(frozen=True, slots=True)
class AppReach:
    """An app that an agent gets to."""

    name: str
    accounts: tuple[Account, ...]
    actions: tuple[AgentAction, ...]


@blueprint.get(PATH)
def page() -> AnyResponse:
    """Ask the person."""
    wanted = AuthorizationRequest.of(request.args)
    try:
        client, uri = _checked(wanted)
    except Invalid as error:
        return _refused(error)
    return make_response(_drawn(client, uri, wanted))


@blueprint.post(PATH)
def decide() -> AnyResponse:
    """Let the agent in, or not; it is told either way."""
    wanted, board = AuthorizationRequest.of(request.form), dashboard()
    try:
        client, uri = _checked(wanted)
    except Invalid as error:
        return _refused(error)
    if request.form.get("answer") != "allow":
        return _tell(uri, wanted, error="access_denied")
    here = viewer().client
    consent = Consent(client, person().id, here.project_id, here.environment, uri, wanted.code_challenge)
    return _tell(uri, wanted, code=grants.begin(board.store, board.clock(), consent))


def reach() -> list[AppReach]:
    """What an agent gets to, app by app: the accounts, and the actions that are not off."""
    known, apps = if_up(known_accounts), if_up(lambda: agents().apps())
    return [
        AppReach(
            app.name,
            tuple(known.of_app(app.slug)) if known else (),
            tuple(action for action in agents().actions(app.slug) if action.level != "off"),
        )
        for app in (apps.items if apps else ())[:MAX_APPS]
    ]


def _checked(wanted: AuthorizationRequest) -> tuple[AgentClient, str]:
    if dashboard().settings.connect_url:
        abort(404)  # whoever signs in here is nobody's user at another service's /mcp
    client, uri = authorization.client_of(dashboard().agent_documents.client, wanted)
    authorization.check(wanted, dashboard().settings.public_url)
    return client, uri


def _refused(error: Invalid) -> AnyResponse:
    return make_response(render_template("dashboard/agents/refused.html", sentence=error.message), 400)


def _tell(uri: str, wanted: AuthorizationRequest, **facts: str) -> AnyResponse:
    return redirect(authorization.told(uri, wanted, dashboard().settings.public_url, **facts), 303)


def _drawn(client: AgentClient, uri: str, wanted: AuthorizationRequest) -> str:
    g.leads_anywhere = True  # browsers hold each redirect against form-action (CSP level 3), also those of the agent
    return render_template(
        "dashboard/agents/consent.html",
        agent=client.name,
        host=documents.host(client),
        place=clients.redirect_place(uri),
        fields=wanted.fields(),
        reach=reach(),
        email=person().email,
    )
