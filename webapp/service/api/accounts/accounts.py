"""Connected accounts (contract "Accounts"): the lists, one of them, and removing them.

Credentials are given to OAuth clients alone, and only those that the project's own OAuth client obtained
(contract "Credentials"). Asking for one account with its credentials refreshes a token that is about to expire;
lists show what is stored.
"""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from flask import Response
from pydantic import Field

from webapp.errors import Forbidden, Refused, UpstreamFailed, UpstreamTimedOut
from webapp.service.api.accounts import models
from webapp.service.api.accounts.apps import APP
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import (
    AppName,
    Extensions,
    ExternalUserId,
    Flag,
    Page,
    Paged,
    Query,
)
from webapp.service.api.base.operations import (
    EXTERNAL_USER_ID,
    OWNER,
    PROVIDER_ERRORS,
    Example,
    Group,
    Operations,
    PathParameter,
)
from webapp.service.domain.accounts import accounts, apps, credentials
from webapp.service.domain.accounts.accounts import Account, Filter
from webapp.service.domain.base import scopes
from webapp.service.domain.instance import removing
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.external_users import ExternalUser

ACCOUNTS = Group("Accounts", "What your users connected. Credentials stay here; calls are made with them.")
ACCOUNT_ID = PathParameter("account_id", "The account's id (`apn_…`).", "$ACCOUNT_ID")
READ, WRITE = (scopes.ACCOUNTS_READ,), (scopes.ACCOUNTS_WRITE,)
operations = Operations(ACCOUNTS, ACCOUNT_ID, EXTERNAL_USER_ID, APP, read=READ, write=WRITE)


class AccountOptions(Query):
    """What an account is shown with."""

    include_credentials: Flag = Field(
        False, description="Add the credentials, where an own OAuth client obtained them; never to a Connect token."
    )
    extensions: Extensions = False


class AccountList(AccountOptions, Paged):
    """Which accounts; ``app`` is a slug or an id."""

    aliases: ClassVar[Mapping[str, str]] = MappingProxyType({"app_id": "app"})
    external_user_id: ExternalUserId | None = None
    app: AppName = None
    oauth_app_id: str | None = Field(None, description="The OAuth client's id (`oa_…`).")


class AppRemoval(Query):
    """Whose accounts of the app are removed; everybody's, unless an OAuth client names one user."""

    external_user_id: ExternalUserId | None = None


@operations.get(
    "P/accounts",
    answer=Page[models.ExtendedAccount],
    query=AccountList,
    limit="accounts",
    example=Example(query={**OWNER, "app": "sandbox"}),
)
def list_accounts(call: Call) -> Response:
    """Accounts of the environment, oldest first."""
    query = call.query(AccountList)
    _check_credentials(call, query)
    user_id = call.caller.user_filter(query.external_user_id)
    app = apps.slug_of(call.service, query.app) if query.app else None
    account_filter = Filter(user_id, app, query.oauth_app_id or None)
    wanted = (call.store, call.scene, account_filter, query.window)
    if not query.include_credentials and not query.extensions:
        return answer_page(accounts.listed_page(*wanted), functools.partial(accounts.listed_to_json, call.service))
    rows = accounts.page(*wanted, with_credentials=query.include_credentials)
    return answer_page(rows, _serializer(call, query))


@operations.get(
    "P/users/<path:external_user_id>/accounts",
    answer=list[models.ExtendedAccount],
    query=AccountOptions,
    limit="accounts",
)
def list_accounts_of_user(call: Call) -> Response:
    """Every account of one user: a bare array."""
    query = call.query(AccountOptions)
    _check_credentials(call, query)
    user_id = call.caller.user_filter(call.path["external_user_id"])
    user = external_users.find(call.store, call.scene, external_users.checked(user_id or ""))
    rows = accounts.of_user(call.store, user, with_credentials=query.include_credentials) if user else []
    return answer(list(map(_serializer(call, query), rows)))


@operations.get(
    "P/accounts/<account_id>",
    answer=models.ExtendedAccount,
    query=AccountOptions,
    limit="accounts",
    errors=PROVIDER_ERRORS,
    example=Example(query={"include_credentials": "true"}),
)
def get_account(call: Call) -> Response:
    """One account, not wrapped."""
    query = call.query(AccountOptions)
    _check_credentials(call, query)
    account = load(call)
    if query.include_credentials:
        account = _fresh(call, account)
    return answer(_serializer(call, query)(account))


@operations.delete(
    "P/accounts/<account_id>",
    limit="accounts",
    example=Example(path={"account_id": "$OTHER_ACCOUNT_ID"}),
)
def delete_account(call: Call) -> Response:
    """Remove one account with its credentials."""
    removing.delete(call.service, load(call))
    return no_content()


@operations.delete(
    "P/apps/<app>/accounts",
    query=AppRemoval,
    limit="accounts",
    example=Example(path={"app": "github"}, query=OWNER),
)
def delete_accounts_of_app(call: Call) -> Response:
    """Remove every account of an app."""
    user_id = call.caller.user_filter(call.query(AppRemoval).external_user_id)
    user = _known_user(call, user_id)
    app = call.service.app(call.path["app"])
    if user_id is None or user is not None:
        removing.delete_of_app(call.service, call.scene, app.slug, user=user)
    return no_content()


def load(call: Call) -> Account:
    """The account of the path, through its owner. Raises :class:`webapp.errors.NotFound`."""
    return accounts.get(call.store, call.scene, call.path["account_id"], user=call.user)


def _serializer(call: Call, query: AccountOptions) -> Callable[[Account], dict[str, Any]]:
    """What turns an account into the JSON that ``query`` asks for."""
    service, extensions = call.service, query.extensions
    if not query.include_credentials:
        return lambda account: accounts.to_json(service, account, extensions=extensions)
    opened = functools.partial(credentials.for_developer, service)
    return lambda account: accounts.to_json(service, account, credentials=opened(account), extensions=extensions)


def _check_credentials(call: Call, query: AccountOptions) -> None:
    if query.include_credentials and call.caller.connect is not None:
        raise Forbidden("Credentials are never given to a frontend; ask for them from your server.")


def _fresh(call: Call, account: Account) -> Account:
    """``account`` with a token that still works. Where that cannot be had, its own state says why."""
    if credentials.is_fresh(call.service, account) or credentials.for_developer(call.service, account) is None:
        return account
    try:
        return credentials.ensure_fresh(call.service, account)
    except (Refused, UpstreamFailed, UpstreamTimedOut):
        return load(call)


def _known_user(call: Call, external_id: str | None) -> ExternalUser | None:
    if call.user is not None or external_id is None:
        return call.user
    return external_users.find(call.store, call.scene, external_id)
