"""Connecting an account by its keys, for the user of a Connect token (contract "Accounts")."""

from collections.abc import Mapping

from flask import Response
from pydantic import Field

from webapp.errors import Forbidden, Invalid, NotFound, Unauthorized
from webapp.service.api.accounts import models
from webapp.service.api.accounts.accounts import ACCOUNTS, WRITE
from webapp.service.api.base.call import Call, answer
from webapp.service.api.base.models import Body
from webapp.service.api.base.operations import PROVIDER_ERRORS, Example, Operations
from webapp.service.catalog.app import App
from webapp.service.domain.access import tokens
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.accounts import accounts, app_overrides, connections, fields, notifications
from webapp.service.domain.base.failures import ConnectFailed

operations = Operations(ACCOUNTS)


class NewAccount(Body):
    """An account that connects by keys. ``cfmap_json`` is a JSON object in a string: field names to values.

    ``app_override_id`` names an app override, whose preset values come first.
    """

    app_slug: str = Field(description="The app's slug.")
    cfmap_json: str = Field(description="The app's custom fields and their values, as JSON in a string.")
    connect_token: str = Field(description="The Connect token of the user whose account it will be.")
    name: str | None = Field(None, description="What it is called.")
    account_id: str | None = Field(None, description="An account to connect anew.")
    app_override_id: str | None = Field(None, description="An override that fills in fields.")


@operations.post(
    "P/accounts",
    answer=models.Account,
    scopes=WRITE,
    body=NewAccount,
    errors=PROVIDER_ERRORS,
    example=Example(
        body={"app_slug": "sandbox_keys", "cfmap_json": '{"api_key": "$SANDBOX_KEY"}', "connect_token": "$CTOK"}
    ),
)
def create_account(call: Call) -> Response:
    """Connect an account by its keys, which are tested first."""
    body = call.body(NewAccount)
    token = token_of(call, body.connect_token)
    app = _app(call, body.app_slug)
    values = {**fields.parse_cfmap(body.cfmap_json), **_preset(call, app, body.app_override_id)}
    try:
        account = connections.connect_with_keys(
            call.service, token, app, values, name=body.name, account_id=body.account_id or None
        )
    except ConnectFailed as error:
        notifications.refused(call.service, token, error)
        raise
    return answer(accounts.to_json(call.service, account))


def token_of(call: Call, text: str) -> ConnectToken:
    """The Connect token in the body, which names the user. It must be of this scene, and the caller's own user.

    Raises :class:`Invalid`, :class:`Forbidden`.
    """
    try:
        token = tokens.verify(call.service, text)
    except Unauthorized as error:
        raise Invalid.of("connect_token", error.message) from error
    if token.scene != call.scene:
        raise Invalid.of("connect_token", "It belongs to another project or environment.")
    if call.user is not None and call.user.id != token.user.id:
        raise Forbidden("This Connect token is for another external user.")
    return token


def _app(call: Call, slug: str) -> App:
    app = call.service.catalog.app(slug)
    if app is None:
        raise Invalid.of("app_slug", "There is no such app.")
    return app


def _preset(call: Call, app: App, override_id: str | None) -> Mapping[str, str]:
    """The values that an app override presets, which the caller's cannot replace."""
    if not override_id:
        return {}
    try:
        override = app_overrides.get(call.store, call.scene.project_id, override_id)
    except NotFound as error:
        raise Invalid.of("app_override_id", error.message) from error
    if override.app != app.slug:
        raise Invalid.of("app_override_id", f"It is an override of another app than {app.name}.")
    return override.fields
