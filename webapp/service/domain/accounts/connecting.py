"""Turning a grant or a set of keys into a connected account: tested, identified, sealed, committed.

Nothing is stored before the provider has accepted it. Reconnecting keeps the account's id and is refused for
another identity.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Detail, Invalid, NotFound
from webapp.kit.ids import new_id
from webapp.service.catalog.app import App
from webapp.service.domain.access.tokens import ConnectToken
from webapp.service.domain.accounts import accounts, credentials, fields, lifecycle, notifications, provider, refreshing
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.provider_clients import ProviderClient
from webapp.service.domain.base.failures import CredentialsRefused, ProviderDown, ScopesMissing, WrongAccount
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import history, projects
from webapp.service.outbound.tokens import TokenResult
from webapp.store.contract import Tx

OnCommit = Callable[[Tx, str], None]
"""What else is written in the transaction that commits an account, given the account's id."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Credentials that the provider accepted, on their way to an account."""

    app: App
    values: Mapping[str, str]
    identity_id: str | None
    identity_name: str | None
    trouble: str | None = None
    name: str | None = None
    oauth_app_id: str | None = None
    scopes: tuple[str, ...] = ()
    profile: str | None = None
    expires_at: int | None = None


def connect_with_keys(
    service: Service,
    token: ConnectToken,
    app: App,
    given: Mapping[str, str],
    *,
    name: str | None = None,
    account_id: str | None = None,
    also: OnCommit | None = None,
) -> Account:
    """Connect ``app`` by the values of its custom fields, which are tested first.

    A project that does not require the test (``connect_require_key_auth_test`` false) keeps an account whose test
    could not be made or failed, and marks it unhealthy. Raises :class:`Invalid` for a bad field,
    :class:`CredentialsRefused`, :class:`ProviderDown`, :class:`WrongAccount`, :class:`NotFound`.
    """
    if app.auth_type != "keys":
        message = f"{app.name} is not connected by keys."
        raise Invalid(message, [Detail("app_slug", message)])
    existing = _existing(service, token, app, account_id)
    values = fields.checked(app, given)
    name = accounts.checked_name(name)
    outcome = provider.identify(service, app, values)
    project = projects.get(service.store, token.scene.project_id)
    if outcome.kind != "ok" and project.connect_require_key_auth_test:
        raise _not_accepted(outcome)
    trouble = None if outcome.kind == "ok" else outcome.sentence
    draft = Draft(app, values, outcome.identity_id, outcome.identity_name, trouble, name)
    return _commit(service, token, draft, existing, also)


def connect_with_grant(
    service: Service,
    token: ConnectToken,
    app: App,
    client: ProviderClient,
    result: TokenResult,
    *,
    requested: Sequence[str],
    profile: str | None,
    fields: Mapping[str, str],
    account_id: str | None,
    also: OnCommit | None = None,
) -> Account:
    """Connect ``app`` by the tokens that its provider has just issued.

    Raises :class:`ScopesMissing`, :class:`CredentialsRefused`, :class:`ProviderDown`, :class:`WrongAccount`,
    :class:`NotFound`.
    """
    existing = _existing(service, token, app, account_id)
    granted = tuple(requested) if result.scopes is None else tuple(result.scopes)
    _check_scopes(app, token, [one for one in requested if one not in client.additional_scopes], granted)
    values = {**fields, **provider.kept_of_tokens(app, result), credentials.ACCESS_TOKEN: result.access_token}
    if result.refresh_token:
        values[credentials.REFRESH_TOKEN] = result.refresh_token
    found = provider.look_up(service, app, values)
    if isinstance(found, provider.CheckResult):
        raise _not_accepted(found)
    values |= found
    outcome = provider.identify(service, app, values)
    if outcome.kind != "ok":
        raise _not_accepted(outcome)
    if outcome.identity_id:
        values[credentials.UID] = outcome.identity_id
    draft = Draft(
        app,
        values,
        outcome.identity_id,
        outcome.identity_name,
        oauth_app_id=client.id,
        scopes=granted,
        profile=profile,
        expires_at=refreshing.expiry_time(service, result),
    )
    return _commit(service, token, draft, existing, also)


def _existing(service: Service, token: ConnectToken, app: App, account_id: str | None) -> Account | None:
    """The account to reconnect, which must be the token's own and of the same app. Raises :class:`NotFound`."""
    if account_id is None:
        return None
    found = accounts.get(service.store, token.scene, account_id, user=token.user)
    if found.app != app.slug:
        raise NotFound("There is no such account.")
    return found


def _check_scopes(app: App, token: ConnectToken, requested: Sequence[str], granted: Sequence[str]) -> None:
    needed = app.functional_scopes if token.allow_progressive_scopes else requested
    missing = [scope for scope in needed if scope not in granted and not app.implied(scope, granted)]
    if missing:
        words = "; ".join(app.scope_words(scope) for scope in missing)
        raise ScopesMissing(f"{app.name} did not grant everything that this connection needs. Missing: {words}.")


def _not_accepted(outcome: provider.CheckResult) -> CredentialsRefused | ProviderDown:
    return CredentialsRefused(outcome.sentence) if outcome.kind == "refused" else ProviderDown(outcome.sentence)


def _commit(
    service: Service, token: ConnectToken, draft: Draft, existing: Account | None, also: OnCommit | None
) -> Account:
    if existing is not None:
        _check_identity(draft, existing)
    label = f" as {draft.identity_name}" if draft.identity_name else ""
    with _by(token), service.store.write() as tx:
        account = _account(service, tx, token, draft, existing)
        if existing is None:
            accounts.insert(tx, account)
        else:
            _replace(tx, existing, account)
        kind, verb = ("connected", "Connected") if existing is None else ("reconnected", "Reconnected")
        history.write(tx, account.subject, account.updated_at, kind, f"{verb}{label}.", good=True)
        if draft.trouble:
            history.write(tx, account.subject, account.updated_at, "trouble", draft.trouble, good=False)
        if also is not None:
            also(tx, account.id)
        committed = accounts.get(tx, account.scene, account.id)
        notifications.connected(tx, service, token, committed)
    service.wake()
    return committed


def _by(token: ConnectToken) -> AbstractContextManager[None]:
    """Whoever calls the API connects the account; on a page of the Connect Link it is the token's own user."""
    return nullcontext() if audit.current() != audit.SYSTEM else audit.acting(Actor("user", token.user.external_id))


def _check_identity(draft: Draft, existing: Account) -> None:
    if existing.identity_id and not draft.identity_id and draft.app.identity_request and not draft.trouble:
        raise ProviderDown(
            f"{draft.app.name} did not say whose account you signed in to, so it cannot take the place of "
            f"{existing.identity_name or existing.identity_id}. Try again in a few minutes."
        )
    if existing.identity_id and draft.identity_id and existing.identity_id != draft.identity_id:
        raise WrongAccount(
            f"This account belongs to {existing.identity_name or existing.identity_id}, but you signed in as "
            f"{draft.identity_name or draft.identity_id}. Sign in with the first one, or connect the other anew."
        )


def _account(service: Service, tx: Tx, token: ConnectToken, draft: Draft, existing: Account | None) -> Account:
    now = service.clock()
    account_id = existing.id if existing else new_id("apn")
    sealed, version = credentials.seal(service, tx, token.scene.project_id, account_id, draft.values)
    fresh = Account(
        id=account_id,
        scene=token.scene,
        external_user_id=token.user.id,
        external_id=token.user.external_id,
        app=draft.app.slug,
        oauth_app_id=draft.oauth_app_id,
        name=draft.name,
        identity_id=draft.identity_id,
        identity_name=draft.identity_name,
        healthy=draft.trouble is None,
        dead=False,
        error=draft.trouble,
        authorized_scopes=draft.scopes,
        scope_profile=draft.profile,
        credentials_sealed=sealed,
        credentials_key=version,
        expires_at=draft.expires_at,
        last_refreshed_at=None,
        next_refresh_at=_next_refresh(now, draft),
        last_checked_at=now,
        next_check_at=lifecycle.check_time(account_id, now) if draft.trouble is None else now + lifecycle.back_off(1),
        failures=0 if draft.trouble is None else 1,
        lease_until=0,
        revision=0,
        created_at=now,
        updated_at=now,
    )
    if existing is None:
        return fresh
    return fresh._replace(
        name=draft.name or existing.name,
        identity_id=draft.identity_id or existing.identity_id,
        identity_name=draft.identity_name or existing.identity_name,
        created_at=existing.created_at,
    )


def _next_refresh(now: int, draft: Draft) -> int | None:
    if draft.values.get(credentials.REFRESH_TOKEN):
        return lifecycle.refresh_time(now, draft.expires_at)
    return draft.expires_at


def _replace(tx: Tx, existing: Account, account: Account) -> None:
    """Put the reconnected account in the old one's place, whatever a refresh did to it meanwhile."""
    if accounts.replace(tx, account) == 0:
        raise NotFound("The account was disconnected meanwhile. Connect it anew.")
    if existing.oauth_app_id != account.oauth_app_id:
        accounts.recount(tx, existing, account)
