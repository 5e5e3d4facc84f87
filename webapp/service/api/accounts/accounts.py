"""Connected accounts (specification 2.10, 4.14): list, get, create by key, delete.

Credentials are handed to OAuth clients alone, and only those that the project's own OAuth client obtained. One
account that is asked for with them is refreshed first, if its token is about to expire; lists show what is stored.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from flask import Response

from webapp.errors import Detail, Forbidden, Invalid, NotFound, Refused, Unauthorized, UpstreamFailed, UpstreamTimedOut
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body, ExternalUserId, Flag, Paged, Query
from webapp.service.catalog.index import App
from webapp.service.domain.access import tokens
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.accounts import (
    accounts,
    app_overrides,
    apps,
    connecting,
    credentials,
    fields,
    refreshing,
)
from webapp.service.domain.accounts.accounts import Account, Filter
from webapp.service.domain.base import scopes
from webapp.service.domain.instance import disconnecting
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser


class Shape(Query):
    """What an account is shown with. ``extensions`` is ours alone."""

    include_credentials: Flag = False
    extensions: Flag = False


class AccountList(Shape, Paged):
    """Which accounts; ``app`` is a slug or an id."""

    external_user_id: ExternalUserId | None = None
    app: str | None = None
    oauth_app_id: str | None = None


class AppRemoval(Query):
    """Whose accounts of the app are removed; everybody's, unless an OAuth client names one user."""

    external_user_id: ExternalUserId | None = None


class NewAccount(Body):
    """An account that connects by keys. ``cfmap_json`` is a JSON object in a string: field names to values.

    ``app_override_id`` names an app override, whose preset values come first.
    """

    app_slug: str
    cfmap_json: str
    connect_token: str
    name: str | None = None
    account_id: str | None = None
    app_override_id: str | None = None


def index(call: Call) -> Response:
    """Accounts of the environment, oldest first."""
    asked = call.query(AccountList)
    _check_credentials(call, asked)
    user_id = call.caller.user_filter(asked.external_user_id)
    app = apps.slug_of(call.service, asked.app) if asked.app else None
    wanted = Filter(user_id, app, asked.oauth_app_id or None)
    found = accounts.page(call.store, call.scene, wanted, asked.window, with_credentials=asked.include_credentials)
    return answers.page(found, _drawing(call, asked))


def of_user(call: Call) -> Response:
    """Every account of one user: a bare array."""
    asked = call.query(Shape)
    _check_credentials(call, asked)
    user_id = call.caller.user_filter(call.path["external_user_id"])
    user = external_users.find(call.store, call.scene, external_users.checked(user_id or ""))
    found = accounts.of_user(call.store, user, with_credentials=asked.include_credentials) if user else []
    return answers.json(list(map(_drawing(call, asked), found)))


def show(call: Call) -> Response:
    """One account, not wrapped."""
    asked = call.query(Shape)
    _check_credentials(call, asked)
    account = load(call)
    if asked.include_credentials:
        account = _fresh(call, account)
    return answers.json(_drawing(call, asked)(account))


def create(call: Call) -> Response:
    """Connect an account by its keys, which are tested first."""
    body = call.body(NewAccount)
    token = _token(call, body.connect_token)
    app = _app(call, body.app_slug)
    given = {**fields.parse_cfmap(body.cfmap_json), **_preset(call, app, body.app_override_id)}
    account = connecting.connect_with_keys(
        call.service, token, app, given, name=body.name, account_id=body.account_id or None
    )
    return answers.json(accounts.to_json(call.service, account))


def remove(call: Call) -> Response:
    """Remove one account with its credentials."""
    disconnecting.delete(call.service, load(call))
    return answers.empty()


def remove_of_app(call: Call) -> Response:
    """Remove every account of an app."""
    user_id = call.caller.user_filter(call.query(AppRemoval).external_user_id)
    user = _known_user(call, user_id)
    app = call.service.app(call.path["app"])
    if user_id is None or user is not None:
        disconnecting.delete_of_app(call.service, call.scene, app.slug, user=user)
    return answers.empty()


def load(call: Call) -> Account:
    """The account of the path, through its owner. Raises :class:`webapp.errors.NotFound`."""
    return accounts.get(call.store, call.scene, call.path["account_id"], user=call.user)


def _drawing(call: Call, asked: Shape) -> Callable[[Account], dict[str, Any]]:
    """What draws an account as it was asked for."""
    service, extensions = call.service, asked.extensions
    if not asked.include_credentials:
        return lambda account: accounts.to_json(service, account, extensions=extensions)
    opened = functools.partial(credentials.for_developer, service)
    return lambda account: accounts.to_json(service, account, credentials=opened(account), extensions=extensions)


def _check_credentials(call: Call, asked: Shape) -> None:
    if asked.include_credentials and call.caller.connect is not None:
        raise Forbidden("Credentials are never given to a frontend; ask for them from your server.")


def _fresh(call: Call, account: Account) -> Account:
    """``account`` with a token that still works. Where that cannot be had, its own state says why."""
    if refreshing.is_fresh(call.service, account) or credentials.for_developer(call.service, account) is None:
        return account
    try:
        return refreshing.ensure_fresh(call.service, account)
    except (Refused, UpstreamFailed, UpstreamTimedOut):
        return load(call)


def _token(call: Call, given: str) -> ConnectToken:
    """The Connect token in the body, which names the user. It must be of this scene, and the caller's own user."""
    try:
        token = tokens.verify(call.service, given)
    except Unauthorized as error:
        raise _invalid("connect_token", error.message) from error
    if token.scene != call.scene:
        raise _invalid("connect_token", "It belongs to another project or environment.")
    if call.user is not None and call.user.id != token.user.id:
        raise Forbidden("This Connect token is for another external user.")
    return token


def _app(call: Call, slug: str) -> App:
    app = call.service.catalog.app(slug)
    if app is None:
        raise _invalid("app_slug", "There is no such app.")
    return app


def _preset(call: Call, app: App, override_id: str | None) -> Mapping[str, str]:
    """The values that an app override presets, which the caller's cannot replace."""
    if not override_id:
        return {}
    try:
        override = app_overrides.get(call.store, call.scene.project_id, override_id)
    except NotFound as error:
        raise _invalid("app_override_id", error.message) from error
    if override.app != app.slug:
        raise _invalid("app_override_id", f"It is an override of another app than {app.name}.")
    return override.fields


def _known_user(call: Call, external_id: str | None) -> ExternalUser | None:
    if call.user is not None or external_id is None:
        return call.user
    return external_users.find(call.store, call.scene, external_id)


def _invalid(field: str, message: str) -> Invalid:
    return Invalid(f"{field} is not valid: {message}", [Detail(field, message)])


READ, WRITE = (scopes.ACCOUNTS_READ,), (scopes.ACCOUNTS_WRITE,)
OPERATIONS = (
    Operation("list_accounts", "GET", "P/accounts", index, READ, query=AccountList),
    Operation("create_account", "POST", "P/accounts", create, WRITE, body=NewAccount),
    Operation("get_account", "GET", "P/accounts/<account_id>", show, READ, query=Shape),
    Operation("delete_account", "DELETE", "P/accounts/<account_id>", remove, WRITE),
    Operation("delete_accounts_of_app", "DELETE", "P/apps/<app>/accounts", remove_of_app, WRITE, query=AppRemoval),
    Operation("list_accounts_of_user", "GET", "P/users/<path:external_user_id>/accounts", of_user, READ, query=Shape),
)
