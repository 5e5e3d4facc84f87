"""Link sessions: a page of the Connect Link for somebody who already uses a page of ours by their Connect token."""

from urllib.parse import urlsplit

from flask import Response
from pydantic import Field

from webapp.errors import Invalid
from webapp.kit.clock import iso
from webapp.service.api.accounts import models
from webapp.service.api.accounts.accounts import ACCOUNTS, WRITE
from webapp.service.api.accounts.connect import token_of
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Body
from webapp.service.api.base.operations import Example, Operations
from webapp.service.domain.access import tokens

operations = Operations(ACCOUNTS, extension=True)


class NewLinkSession(Body):
    """What is to be connected, and where the page leads afterwards."""

    success_redirect_uri: str = Field(description="Where to go on after a success: a page of this installation.")
    error_redirect_uri: str = Field(description="Where to go on after a failure: a page of this installation.")
    app: str | None = Field(None, description="The app's slug; without one the person chooses.")
    account_id: str | None = Field(None, description="An account to connect anew.")
    theme: str | None = Field(None, description="`light` or `dark`; otherwise as the system has it.")
    language: str | None = Field(None, description="The language of the page; otherwise the browser's.")
    connect_token: str | None = Field(
        None, description="The Connect token of the user; needed unless the call is made with it."
    )


@operations.post(
    "P/link_sessions",
    answer=models.LinkSession,
    scopes=WRITE,
    body=NewLinkSession,
    example=Example(
        body={
            "connect_token": "$CTOK",
            "success_redirect_uri": "$PATCHBAY/accounts",
            "error_redirect_uri": "$PATCHBAY/apps",
            "app": "sandbox",
        }
    ),
)
def create_link_session(call: Call) -> Response:
    """Make a page on which the Connect token's user connects one account; the token's own link stays unused."""
    body = call.body(NewLinkSession)
    token = token_of(call, body.connect_token) if body.connect_token else call.caller.connect
    if token is None:
        raise Invalid.of("connect_token", "It names the user; leave it out only when calling with a Connect token.")
    session, secret = tokens.create_link_session(call.service, token, _parameters(call, body))
    url = f"{call.service.settings.public_url}/_static/connect/{session.id}.{secret}"
    return answer({"url": url, "expires_at": iso(session.expires_at)})


def _parameters(call: Call, body: NewLinkSession) -> dict[str, str]:
    """The parameters of the page. Raises :class:`Invalid` for a way back that leads elsewhere."""
    for name in ("success_redirect_uri", "error_redirect_uri"):
        _check_own(call, name, getattr(body, name))
    ways = {tokens.SUCCESS: body.success_redirect_uri, tokens.FAILURE: body.error_redirect_uri}
    chosen = {"app": body.app, "accountId": body.account_id, "theme": body.theme, "language": body.language}
    return {**ways, **{name: value for name, value in chosen.items() if value}}


def _check_own(call: Call, field: str, uri: str) -> None:
    """Raise :class:`Invalid` unless ``uri`` is an address of this installation: nobody is led away by such a link."""
    try:
        parts, own = urlsplit(uri), urlsplit(call.service.settings.public_url)
    except ValueError as error:
        raise Invalid.of(field, "It is not an address.") from error
    if (parts.scheme, parts.netloc) != (own.scheme, own.netloc) or not uri.isprintable() or "\\" in uri:
        raise Invalid.of(field, f"It must be an address that begins with {call.service.settings.public_url}/.")
