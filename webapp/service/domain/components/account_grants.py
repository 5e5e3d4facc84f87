"""The accounts that a call of a component gets: found through their owner, refreshed, and opened for this call.

A component gets the address of an account's app and the credentials that requests to the app need, but never the
refresh token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from webapp.errors import Detail, Invalid, NotFound, PatchbayError, Refused
from webapp.service.catalog.app import App
from webapp.service.components.calls import AccountGrant
from webapp.service.domain.accounts import accounts, credentials, token_refresh
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components.prop_values import FIELD
from webapp.service.domain.projects import external_users
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.templates import TemplateError, fill, fill_hosts, fill_url

Prop = Mapping[str, Any]


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


def grant(service: Service, chosen: Mapping[str, Account], app_slug: str | None) -> CallGrants:
    """``chosen`` as a component may use them. Raises :class:`AccountUnusable`, with a sentence for the person."""
    apps = {name: accounts.app_of(service, account) for name, account in chosen.items()}
    own = service.catalog.app(app_slug) if app_slug else None
    used = {name: fresh(service, account) for name, account in chosen.items()}
    granted = {name: of_values(apps[name], given_values(service, account)) for name, account in used.items()}
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


def of_values(app: App, values: Mapping[str, str]) -> AccountGrant:
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
