"""The page on which a person lets an agent in: the agent, the address of the answer, and its permissions.

An agent sends the person to this page (RFC 6749 section 4.1.1, with PKCE). Anybody can register an agent, so the page
redirects to its address only after a press of a button: problems of a request are shown on our own page (RFC 9700
section 4.11.2). An agent chooses its name itself, so the page also shows the address. Nothing happens before a
signed-in person presses Allow in a form of ours.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, abort, g, make_response, render_template, request
from werkzeug.utils import redirect
from werkzeug.wrappers import Response as AnyResponse

from webapp.dashboard.client.models.accounts import Account
from webapp.dashboard.client.models.agents import AgentAction
from webapp.dashboard.dashboard import agents, dashboard, if_up, known_accounts, viewer
from webapp.dashboard.gate import person
from webapp.errors import Invalid
from webapp.kit.translation import gettext
from webapp.people.agents import clients, documents, grants
from webapp.people.agents.clients import AgentClient
from webapp.people.agents.grants import Consent

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")  # of S256: 32 bytes in base64url
MAX_STATE = 2_000
blueprint = Blueprint("agents_consent", __name__)
PATH = "/mcp/oauth/authorize"
MAX_APPS = 30


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """The parameters of the request."""

    client_id: str = ""
    redirect_uri: str = ""
    response_type: str = ""
    code_challenge: str = ""
    code_challenge_method: str = ""
    state: str = ""
    scope: str = ""
    resource: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "AuthorizationRequest":
        """The request in a query or form; unknown parameters are left out."""
        return cls(**{field.name: values.get(field.name, "") for field in fields(cls)})

    def fields(self) -> dict[str, str]:
        """The hidden fields of a form."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}


def client_of(find: Callable[[str], AgentClient | None], wanted: AuthorizationRequest) -> tuple[AgentClient, str]:
    """The agent, which ``find`` returns by its id, and the redirect URI.

    Raises :class:`Invalid` if there is no valid one.
    """
    client = find(wanted.client_id)
    if client is None:
        raise Invalid(gettext("This agent is not known here, or no longer. Remove it in the agent and add it again."))
    uri = wanted.redirect_uri or (client.redirect_uris[0] if len(client.redirect_uris) == 1 else "")
    if not clients.redirect_matches(uri, client.redirect_uris):
        raise Invalid(gettext("This agent wants the answer at an address that it did not register."))
    return client, uri


def check(wanted: AuthorizationRequest, public_url: str) -> None:
    """Raise :class:`Invalid` for a request that cannot be granted."""
    if wanted.response_type != "code":
        raise Invalid(gettext("The agent asks for something other than a code (response_type)."))
    if wanted.code_challenge_method != "S256" or not _CHALLENGE.fullmatch(wanted.code_challenge):
        raise Invalid(gettext("The agent does not protect its sign-in by PKCE with S256. Use a newer version of it."))
    if len(wanted.state) > MAX_STATE:
        raise Invalid(gettext("The agent sends a state that is too long."))
    if wanted.resource.rstrip("/") not in ("", public_url, f"{public_url}/mcp"):
        raise Invalid(gettext("The agent asks for access to another service (resource)."))


def redirect_uri_with(uri: str, wanted: AuthorizationRequest, public_url: str, **facts: str) -> str:
    """The redirect URI with ``facts``, the state and the issuer (RFC 9207)."""
    values = {**facts, **({"state": wanted.state} if wanted.state else {}), "iss": f"{public_url}/mcp/oauth"}
    return f"{uri.removesuffix('?')}{'&' if urlsplit(uri).query else '?'}{urlencode(values)}"


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
    """Let the agent in, or not, and redirect to it."""
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
    """The agent's reach, app by app: the accounts, and the actions that are not off."""
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
    client, uri = client_of(dashboard().agent_documents.client, wanted)
    check(wanted, dashboard().settings.public_url)
    return client, uri


def _refused(error: Invalid) -> AnyResponse:
    return make_response(render_template("dashboard/agents/refused.html", sentence=error.message), 400)


def _tell(uri: str, wanted: AuthorizationRequest, **facts: str) -> AnyResponse:
    return redirect(redirect_uri_with(uri, wanted, dashboard().settings.public_url, **facts), 303)


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
