"""Looking after a project's OAuth client: whether its provider knows it, which apps of the provider share it, and the
secret that the provider sent for its events."""

from dataclasses import asdict

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.service.api.accounts import app_models
from webapp.service.api.accounts.oauth_apps import OAUTH_APP_ID, OAUTH_APPS, ONE, load, to_json
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Body
from webapp.service.api.base.operations import Example, Operations
from webapp.service.domain.accounts import oauth_app_checks, oauth_apps
from webapp.service.domain.base import scopes

operations = Operations(OAUTH_APPS, OAUTH_APP_ID, write=(scopes.PROJECTS_WRITE,), connect=False, extension=True)


class SharedApp(Body):
    """Another app of the same provider, by its slug or id."""

    app: str = Field(description="The app's slug or id.")


@operations.post(
    f"{ONE}/check",
    answer=app_models.ClientVerdict,
    example=Example(path={"oauth_app_id": "$SANDBOX_OAUTH_APP_ID"}),
)
def check_oauth_app(call: Call) -> Response:
    """Ask the provider whether it knows a client. Nobody signs in, and nothing changes."""
    client = load(call)
    verdict = oauth_app_checks.check(
        call.service,
        call.service.app(client.app),
        client.client_id,
        oauth_apps.secret(call.service, client),
        oauth_apps.redirect_uri(call.service, client),
    )
    return answer(asdict(verdict))


@operations.post(
    f"{ONE}/share",
    answer=app_models.OAuthApp,
    body=SharedApp,
    example=Example(path={"oauth_app_id": "$GOOGLE_OAUTH_APP_ID"}, body={"app": "google_calendar"}),
)
def share_oauth_app(call: Call) -> Response:
    """Let another app of the provider use a client, as a client of its own with the same id and secret."""
    client = load(call)
    app = call.service.catalog.app(call.body(SharedApp).app)
    if app is None or app.slug not in oauth_apps.family(call.service, client.app):
        raise Invalid.of("app", "A client can be shared with another app of its provider alone.")
    return answer(to_json(call.service, oauth_apps.share(call.service, client, app.slug)))


@operations.post(
    f"{ONE}/events_secret",
    answer=app_models.EventsSecret,
    example=Example(path={"oauth_app_id": "$NOTION_OAUTH_APP_ID"}),
)
def take_events_secret(call: Call) -> Response:
    """Take the secret that the provider sent to the client's address for events; it signs from now on. 409 while it has
    sent none."""
    return answer({"events_secret": oauth_apps.take_handshake(call.service, load(call))})
