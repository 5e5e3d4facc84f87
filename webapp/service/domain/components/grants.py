"""Calls a component with accounts: found through their owner, refreshed, and opened for this call.

A component gets the address of an account's app and the credentials that requests to the app need, but never the
refresh token. If a provider refuses the credential during the call, the account is checked at once
(``health.after_refusal``): if it is renewed, and the call has changed nothing, the call is made again; otherwise it is
marked, and the person must reconnect it.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from webapp.errors import Detail, Invalid, NotFound, PatchbayError, Refused
from webapp.service.catalog.app import App
from webapp.service.components.calls import AccountGrant, Call, ErrorInfo, Observation, Reply
from webapp.service.components.pieces.form import ENDING as PIECE
from webapp.service.domain.accounts import accounts, credentials, health, provider_scopes, token_refresh
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components.prop_values import FIELD
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.templates import TemplateError, fill, fill_hosts, fill_url

Prop = Mapping[str, Any]
_REFUSALS = (401, 403)
UNUSABLE = "AccountError"


class AccountUnusable(PatchbayError):
    """The account cannot be used now. Reconnect it, or try again later."""


@dataclass(frozen=True, slots=True)
class CallGrants:
    """The accounts of one call: their grants, and the private targets that their apps have.

    ``used`` are the accounts with the credentials that were given.
    """

    accounts: Mapping[str, AccountGrant]
    allow_hosts: tuple[str, ...]
    used: Mapping[str, Account]


def call(service: Service, request: Call, chosen: Mapping[str, Account], app_slug: str | None) -> Reply:
    """Make the call ``request`` with the ``chosen`` accounts, by app prop, for a component of the app ``app_slug``.

    An account that cannot be used is a failed reply, as everything is that goes wrong.
    """
    started = time.monotonic()
    try:
        granted = grant_accounts(service, chosen, app_slug)
        reply = _naming_scopes(service, request, granted, _make(service, request, granted))
        if not reply.refused:
            return reply
        after = {prop: _settle(service, granted.used[prop], reply) for prop in reply.refused}
        renewed = all(account.revision != granted.used[prop].revision for prop, account in after.items())
        left_s = request.deadline_s - (time.monotonic() - started)
        if reply.ok or not renewed or not reply.repeatable or left_s < 1:
            return reply
        again = grant_accounts(service, {**granted.used, **after}, app_slug)
        return _make(service, replace(request, deadline_s=left_s), again)
    except (AccountUnusable, NotFound) as error:
        return failed(service, error.message, round((time.monotonic() - started) * 1000))


def user_key(scene: Scene, external_id: str) -> str:
    """A key of an external user among those of all projects and environments."""
    return f"{scene.project_id}/{scene.environment}/{external_id}"


def failed(service: Service, sentence: str, took_ms: int = 0) -> Reply:
    """A reply that says why an account could not be used."""
    info = ErrorInfo("exception", UNUSABLE, sentence)
    return Reply(None, observations=(Observation("error", service.clock(), err=info),), error=info, took_ms=took_ms)


def find_accounts(
    service: Service, scene: Scene, external_id: str, props: Sequence[Prop], account_ids: Mapping[str, str]
) -> dict[str, Account]:
    """The accounts of ``account_ids``, by app prop. They must be this user's and of the prop's app.

    Raises :class:`NotFound` (absent or another user's), :class:`Invalid` (of another app).
    """
    user = external_users.find(service.store, scene, external_id) if account_ids else None
    found_accounts = {}
    for prop in props:
        account_id = account_ids.get(prop["name"])
        if account_id is None:
            continue
        if user is None:
            raise NotFound("There is no such account.")
        account = accounts.get(service.store, scene, account_id, user=user)
        if account.app != prop["app"]:
            raise _of_another_app(service, prop, account)
        found_accounts[prop["name"]] = account
    return found_accounts


def grant_accounts(service: Service, chosen: Mapping[str, Account], app_slug: str | None) -> CallGrants:
    """``chosen`` as a component may use them. Raises :class:`AccountUnusable`, with a sentence for the person."""
    apps = {name: accounts.app_of(service, account) for name, account in chosen.items()}
    own = service.catalog.app(app_slug) if app_slug else None
    used = {name: fresh(service, account) for name, account in chosen.items()}
    granted = {name: account_grant(apps[name], given_values(service, account)) for name, account in used.items()}
    return CallGrants(granted, allow_hosts(service, [*apps.values(), *([own] if own else [])]), used)


def fresh(service: Service, account: Account) -> Account:
    """``account`` with a token that still works by its own clock. Raises :class:`AccountUnusable`."""
    app, name = _names(service, account)
    try:
        return token_refresh.ensure_fresh(service, account)
    except NotFound as error:
        raise AccountUnusable(f"The {app} account {name} was disconnected; choose another.") from error
    except Refused as error:
        raise reconnect(service, account, error.message) from error
    except PatchbayError as error:
        raise AccountUnusable(f"The {app} account {name} cannot be used now. {error.message}") from error


def reconnect(service: Service, account: Account, reason: str | None) -> AccountUnusable:
    """The sentence about an account that stopped working for ``reason``."""
    app, name = _names(service, account)
    sentence = f"The {app} account {name} no longer works; reconnect it."
    return AccountUnusable(f"{sentence} {reason}" if reason else sentence)


def _names(service: Service, account: Account) -> tuple[str, str]:
    """The app, and the account by its best name."""
    return accounts.app_of(service, account).name, account.name or account.identity_name or account.id


def given_values(service: Service, account: Account) -> dict[str, str]:
    """The credentials of ``account`` without its refresh token and the fields that were exchanged for others."""
    app = accounts.find_app(service, account)
    kept_back = {credentials.REFRESH_TOKEN, *(app.exchanged if app else ())}
    return {name: value for name, value in credentials.read(service, account).items() if name not in kept_back}


def account_grant(app: App, values: Mapping[str, str]) -> AccountGrant:
    """The grant of an account of ``app`` with these credentials. Raises :class:`AccountUnusable`."""
    try:
        return AccountGrant(
            values=values,
            base_url=fill_url(app.spec.base_url, values) if app.spec.base_url else None,
            headers={name: fill(value, values) for name, value in app.spec.headers.items()},
            placements=app.placements,
            allowed_hosts=fill_hosts(app.allowed_hosts, values),
            secrets=_secrets(app, values),
            refusals=app.refusal_rules,
            app=app.slug,
        )
    except TemplateError as error:
        raise AccountUnusable(f"The {app.name} account is not complete: {error} Reconnect it.") from error


def _secrets(app: App, values: Mapping[str, str]) -> tuple[str, ...]:
    """The names of secret values: all but the app's open fields, those that it shows, and the owner's id there."""
    public = {field.name for field in app.spec.fields if not field.secret} | {credentials.UID}
    public |= set(app.oauth.shown) if app.oauth else set()
    return tuple(name for name in values if name not in public)


def allow_hosts(service: Service, used: Sequence[App]) -> tuple[str, ...]:
    """The private targets that the operator opened to all, and the built-in third party for its own apps."""
    settings = service.settings
    if settings.sandbox and any(app.is_sandbox for app in used):
        return (*settings.allow_hosts, urlsplit(settings.sandbox_url).netloc)
    return settings.allow_hosts


def _of_another_app(service: Service, prop: Prop, account: Account) -> Invalid:
    needed, chosen = service.catalog.app(prop["app"]), service.catalog.app(account.app)
    message = (
        f"It must be an account of {needed.name if needed else prop['app']}, "
        f"not of {chosen.name if chosen else account.app}."
    )
    return Invalid(f"{prop['name']} is not valid: {message}", [Detail(f"{FIELD}.{prop['name']}", message)])


def _make(service: Service, request: Call, granted: CallGrants) -> Reply:
    whole = replace(request, accounts=granted.accounts, allow_hosts=granted.allow_hosts)
    return piece_hosts.call(service, whole) if request.path.endswith(PIECE) else service.executor.call(whole)


def _naming_scopes(service: Service, request: Call, granted: CallGrants, reply: Reply) -> Reply:
    """``reply``; if the app refused an action that needs scopes which the account was not given, it names them."""
    error = reply.error
    if error is None or not _is_refusal(error) or request.method != "run":
        return reply
    alternatives = provider_scopes.alternatives(Path(request.path))
    for account in granted.used.values():
        lacking = provider_scopes.lacking(accounts.app_of(service, account), account.authorized_scopes, alternatives)
        if lacking:
            name = account.name or account.identity_name or account.id
            sentence = f"The account {name} was not given {', '.join(lacking)}, which this needs; reconnect it."
            message = f"{error.message} {sentence}"
            named = replace(error, message=message, account_id=account.id, lacking_scopes=lacking)
            *others, last = reply.observations
            return replace(reply, error=named, observations=(*others, replace(last, err=named)))
    return reply


def _is_refusal(error: ErrorInfo) -> bool:
    """Whether the app refused a request, maybe with a status that others answer a success with, as Slack does."""
    return error.kind == "http" and (error.status in _REFUSALS or 200 <= (error.status or 0) < 300)


def _settle(service: Service, used: Account, reply: Reply) -> Account:
    """The account after it was checked. Raises :class:`AccountUnusable` if it must be reconnected.

    The effects of a component whose account was refused are kept.
    """
    account = health.after_refusal(service, used)
    if account.dead and not reply.ok:
        raise reconnect(service, account, account.error)
    return account
