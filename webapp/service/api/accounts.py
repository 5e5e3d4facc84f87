"""Connected accounts (contract "Accounts"): lists, one account, connecting by keys or on a page of the Connect Link,
rename, test, revoke, uses and activity, and removal.

Only OAuth clients get credentials, and only those that the project's own OAuth client obtained (contract
"Credentials"). A request for one account with its credentials refreshes a token that is about to expire; lists show
what is stored.
"""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from flask import Response
from pydantic import ConfigDict, Field

from webapp.errors import Forbidden, Invalid, NotFound, Refused, Unauthorized, UpstreamFailed, UpstreamTimedOut
from webapp.kit.clock import iso
from webapp.service.api.apps import APP, App
from webapp.service.api.base.call import Call, answer, answer_page, no_content
from webapp.service.api.base.models import (
    Answer,
    AppName,
    Body,
    Data,
    DateTime,
    Extensions,
    ExternalUserId,
    Flag,
    Page,
    Paged,
    Query,
    identifier,
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
from webapp.service.catalog.app import App as CatalogApp
from webapp.service.domain.access import connect_tokens, link_sessions
from webapp.service.domain.access.callers import OF_ANOTHER_USER
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.accounts import (
    account_state,
    accounts,
    app_overrides,
    apps,
    connections,
    credentials,
    fields,
    health,
    notifications,
    token_refresh,
)
from webapp.service.domain.accounts.accounts import Filter
from webapp.service.domain.base import token_scopes
from webapp.service.domain.base.failures import ConnectFailed
from webapp.service.domain.instance import hosted_servers, removal
from webapp.service.domain.projects import activity, external_users
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.triggers import trigger_accounts
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger

ACCOUNTS = Group("Accounts", "What your users connected. Credentials stay here; calls are made with them.")
ACCOUNT_ID = PathParameter("account_id", "The account's id (`apn_…`).", "$ACCOUNT_ID")
READ, WRITE = (token_scopes.ACCOUNTS_READ,), (token_scopes.ACCOUNTS_WRITE,)
operations = Operations(ACCOUNTS, ACCOUNT_ID, EXTERNAL_USER_ID, APP, read=READ, write=WRITE)
ONE = "P/accounts/<account_id>"


class AccountOptions(Query):
    """The optional parts of an account."""

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
    """The user whose accounts of the app are removed; without one, an OAuth client removes those of all users."""

    external_user_id: ExternalUserId | None = None


class Credentials(Answer):
    """The credentials that the developer's own OAuth client obtained, and the app's fields."""

    model_config = ConfigDict(extra="allow")

    oauth_client_id: str
    oauth_access_token: str = ""
    oauth_refresh_token: str = ""
    oauth_uid: str = ""


class Identity(Answer):
    """Who the account belongs to at its provider."""

    id: str | None = Field(examples=["id_1Ab2Cd"])
    name: str | None = Field(examples=["Ada"])


class Account(Answer):
    """A connected account."""

    id: str = identifier("apn_5hQ2kLm9RtVx")
    name: str | None = Field(examples=["GitHub"])
    external_id: str = Field(examples=["user-123"])
    healthy: bool
    dead: bool | None = Field(examples=[False])
    app: App
    created_at: DateTime
    updated_at: DateTime
    authorized_scopes: list[str] = Field(examples=[["repo"]])
    error: str | None = Field(examples=[None])
    last_refreshed_at: DateTime | None
    next_refresh_at: DateTime | None
    expires_at: DateTime = Field("", description="Missing where the credentials do not expire.")
    credentials: Annotated[
        Credentials | None, Field(description="Only where `include_credentials` was true and they may be given.")
    ] = None


class ExtendedAccount(Account):
    """A connected account; the last six fields are there when `extensions` were asked for."""

    identity: Identity | None = None
    last_checked_at: DateTime | None = None
    next_check_at: DateTime | None = None
    oauth_app_id: str | None = None
    scope_profile: str | None = None
    available: bool = Field(True, description="False where its app was removed from this installation.")


class ActivityEntry(Answer):
    """One event; `good` says whether it is good news."""

    id: str = Field(examples=["ev_7Ns4Ty"])
    account_id: str | None = Field(examples=["apn_5hQ2kLm9RtVx"])
    trigger_id: str | None = Field(examples=["dc_6Gt1Nv"])
    app: str | None = Field(examples=["github"])
    at: DateTime
    kind: str = Field(examples=["connected"])
    good: bool
    sentence: str = Field(examples=["Ada connected GitHub."])


class AccountUse(Answer):
    """A trigger that stops without the account."""

    id: str = Field(examples=["dc_6Gt1Nv"])
    kind: Literal["trigger"]
    name: str = Field(examples=["New issue"])
    app: str | None = Field(examples=["github"])
    active: bool


class LinkSession(Answer):
    """A page of the Connect Link, for one connection."""

    url: str = Field(examples=["https://connect.example.com/_static/connect/ls_5Hq8Vb.…"])
    expires_at: DateTime


class NewAccount(Body):
    """An account that connects by keys. ``cfmap_json`` is a JSON object in a string: field names to values.

    ``app_override_id`` names an app override, whose preset values come first.
    """

    app_slug: str = Field(description="The app's slug.")
    cfmap_json: str = Field(description="The app's custom fields and their values, as JSON in a string.")
    connect_token: str = Field(description="The Connect token of the user whose account it will be.")
    name: str | None = Field(None, description="What it is called.")
    account_id: str | None = Field(None, description="An account to reconnect.")
    app_override_id: str | None = Field(None, description="An override that fills in fields.")


class NewAccountOwner(Query):
    """The user of the Connect token, named again; another user is refused."""

    external_user_id: ExternalUserId | None = None


class NewLinkSession(Body):
    """What to connect, and the addresses that the page leads to afterwards."""

    success_redirect_uri: str = Field(description="Where to go on after a success: a page of this installation.")
    error_redirect_uri: str = Field(description="Where to go on after a failure: a page of this installation.")
    app: str | None = Field(None, description="The app's slug; without one the person chooses.")
    account_id: str | None = Field(None, description="An account to reconnect.")
    action: str | None = Field(
        None, description="The key of an action; what the reconnected account lacks for it is asked for besides."
    )
    theme: str | None = Field(None, description="`light` or `dark`; otherwise as the system has it.")
    language: str | None = Field(None, description="The language of the page; otherwise the browser's.")
    connect_token: str | None = Field(
        None, description="The Connect token of the user; needed unless the call is made with it."
    )


class NewName(Body):
    """The account's own name; null removes it."""

    name: str | None = Field(description="What it is called.")


@operations.get(
    "P/accounts",
    answer=Page[ExtendedAccount],
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
    answer=list[ExtendedAccount],
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
    answer=ExtendedAccount,
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
    removal.delete(call.service, load(call))
    return no_content()


@operations.delete(
    "P/apps/<app>/accounts",
    query=AppRemoval,
    limit="accounts",
    older=("P/accounts/app/<app>",),
    example=Example(path={"app": "github"}, query=OWNER),
)
def delete_accounts_of_app(call: Call) -> Response:
    """Remove every account of an app."""
    user_id = call.caller.user_filter(call.query(AppRemoval).external_user_id)
    user = _known_user(call, user_id)
    app = call.service.app(call.path["app"])
    if user_id is None or user is not None:
        removal.delete_of_app(call.service, call.scene, app.slug, user=user)
    return no_content()


def load(call: Call) -> accounts.Account:
    """The account of the path, through its owner. Raises :class:`webapp.errors.NotFound`."""
    return accounts.get(call.store, call.scene, call.path["account_id"], user=call.user)


def _serializer(call: Call, query: AccountOptions) -> Callable[[accounts.Account], dict[str, Any]]:
    """The function that turns an account into the JSON that ``query`` asks for."""
    service, extensions = call.service, query.extensions
    if not query.include_credentials:
        return lambda account: accounts.to_json(service, account, extensions=extensions)
    opened = functools.partial(credentials.for_developer, service)
    return lambda account: accounts.to_json(service, account, credentials=opened(account), extensions=extensions)


def _check_credentials(call: Call, query: AccountOptions) -> None:
    if query.include_credentials and call.caller.connect is not None:
        raise Forbidden("Credentials are never given to a frontend; ask for them from your server.")


def _fresh(call: Call, account: accounts.Account) -> accounts.Account:
    """``account`` with a valid token if possible; otherwise its state says why not."""
    if token_refresh.is_fresh(call.service, account) or credentials.for_developer(call.service, account) is None:
        return account
    try:
        return token_refresh.ensure_fresh(call.service, account)
    except (Refused, UpstreamFailed, UpstreamTimedOut):
        return load(call)


def _known_user(call: Call, external_id: str | None) -> ExternalUser | None:
    if call.user is not None or external_id is None:
        return call.user
    return external_users.find(call.store, call.scene, external_id)


@operations.post(
    "P/accounts",
    answer=Account,
    scopes=WRITE,
    query=NewAccountOwner,
    body=NewAccount,
    errors=PROVIDER_ERRORS,
    example=Example(
        body={"app_slug": "sandbox_keys", "cfmap_json": '{"api_key": "$SANDBOX_KEY"}', "connect_token": "$CTOK"}
    ),
)
def create_account(call: Call) -> Response:
    """Connect an account by its keys, which are tested first."""
    named, body = call.query(NewAccountOwner).external_user_id, call.body(NewAccount)
    token = token_of(call, body.connect_token)
    if named not in (None, token.user.external_id):
        raise Forbidden(OF_ANOTHER_USER)
    app = _app(call, body.app_slug)
    values = {**fields.parse_cfmap(body.cfmap_json), **_preset(call, app, body.app_override_id)}
    try:
        account = connections.connect_with_keys(
            call.service, token, app, values, name=body.name, account_id=body.account_id or None
        )
    except ConnectFailed as error:
        notifications.notify_refused(call.service, token, error)
        raise
    hosted_servers.read_tools(call.service, account)
    return answer(accounts.to_json(call.service, account))


def token_of(call: Call, text: str) -> ConnectToken:
    """The Connect token in the body, which names the user. It must be of this scene, and the caller's own user.

    Raises :class:`Invalid`, :class:`Forbidden`.
    """
    try:
        token = connect_tokens.verify(call.service, text)
    except Unauthorized as error:
        raise Invalid.of("connect_token", error.message) from error
    if token.scene != call.scene:
        raise Invalid.of("connect_token", "It belongs to another project or environment.")
    if call.user is not None and call.user.id != token.user.id:
        raise Forbidden(OF_ANOTHER_USER)
    return token


def _app(call: Call, slug: str) -> CatalogApp:
    app = call.service.catalog.app(slug)
    if app is None:
        raise Invalid.of("app_slug", "There is no such app.")
    return app


def _preset(call: Call, app: CatalogApp, override_id: str | None) -> Mapping[str, str]:
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


@operations.post(
    "P/link_sessions",
    answer=LinkSession,
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
    extension=True,
)
def create_link_session(call: Call) -> Response:
    """Make a page on which the Connect token's user connects one account; the token's own link stays unused."""
    body = call.body(NewLinkSession)
    token = token_of(call, body.connect_token) if body.connect_token else call.caller.connect
    if token is None:
        raise Invalid.of("connect_token", "It names the user; leave it out only when calling with a Connect token.")
    session, secret = link_sessions.create(call.service, token, _parameters(call, body))
    url = f"{call.service.settings.public_url}/_static/connect/{session.id}.{secret}"
    return answer({"url": url, "expires_at": iso(session.expires_at)})


def _parameters(call: Call, body: NewLinkSession) -> dict[str, str]:
    """The parameters of the page. Raises :class:`Invalid` for a way back that leads elsewhere."""
    for name in ("success_redirect_uri", "error_redirect_uri"):
        _check_own(call, name, getattr(body, name))
    ways = {link_sessions.SUCCESS: body.success_redirect_uri, link_sessions.FAILURE: body.error_redirect_uri}
    chosen = {
        "app": body.app,
        "accountId": body.account_id,
        "action": body.action,
        "theme": body.theme,
        "language": body.language,
    }
    return {**ways, **{name: value for name, value in chosen.items() if value}}


def _check_own(call: Call, field: str, uri: str) -> None:
    """Raise :class:`Invalid` unless ``uri`` is an address of this installation, so that the link is no open
    redirect.
    """
    try:
        parts, own = urlsplit(uri), urlsplit(call.service.settings.public_url)
    except ValueError as error:
        raise Invalid.of(field, "It is not an address.") from error
    if (parts.scheme, parts.netloc) != (own.scheme, own.netloc) or not uri.isprintable() or "\\" in uri:
        raise Invalid.of(field, f"It must be an address that begins with {call.service.settings.public_url}/.")


@operations.patch(ONE, answer=ExtendedAccount, body=NewName, example=Example(body={"name": "My tasks"}), extension=True)
def rename_account(call: Call) -> Response:
    """Give an account its own name."""
    account = load(call)
    renamed = account_state.rename(call.service, account, call.body(NewName).name)
    return _answer(call, renamed)


@operations.post(f"{ONE}/test", answer=ExtendedAccount, errors=PROVIDER_ERRORS, extension=True)
def test_account(call: Call) -> Response:
    """Test an account now. The answer contains the result: a failure at the provider is no error of this call."""
    return _answer(call, health.check(call.service, load(call)))


@operations.post(
    f"{ONE}/revoke",
    answer=ExtendedAccount,
    errors=PROVIDER_ERRORS,
    example=Example(path={"account_id": "$OTHER_ACCOUNT_ID"}),
    extension=True,
)
def revoke_account(call: Call) -> Response:
    """Take the access back at the provider; 409 where the provider has no way to do it."""
    return _answer(call, health.revoke(call.service, load(call)))


@operations.get(f"{ONE}/uses", answer=Page[AccountUse], query=Paged, limit="accounts", extension=True)
def list_account_uses(call: Call) -> Response:
    """List what stops without this account: the triggers deployed with it."""
    account = load(call)
    uses = trigger_accounts.page_of_account(call.store, account.id, call.query(Paged).window)
    return answer_page(uses, _use_to_json)


@operations.get(f"{ONE}/siblings", answer=Data[list[ExtendedAccount]], limit="accounts", extension=True)
def list_account_siblings(call: Call) -> Response:
    """The user's other accounts that end when this one is revoked at its provider."""
    others = health.also_revoked(call.service, load(call))
    return answer({"data": [accounts.to_json(call.service, other, extensions=True) for other in others]})


@operations.get(
    f"{ONE}/history",
    answer=Page[ActivityEntry],
    query=Paged,
    limit="accounts",
    example=Example(query={"limit": "10"}),
    extension=True,
)
def list_account_history(call: Call) -> Response:
    """List the activity of an account, newest first."""
    account = load(call)
    return answer_page(
        activity.of_account(call.store, account.id, call.query(Paged).window), activity.ActivityEntry.to_json
    )


def _use_to_json(trigger: DeployedTrigger) -> dict[str, Any]:
    return {"id": trigger.id, "kind": "trigger", "name": trigger.name, "app": trigger.app, "active": trigger.active}


def _answer(call: Call, account: accounts.Account) -> Response:
    return answer(accounts.to_json(call.service, account, extensions=True))
