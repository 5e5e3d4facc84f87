"""Connects an account from a grant or a set of keys: tests it, identifies it, and commits it with sealed
credentials; and says why an app cannot be connected.

Nothing is stored before the provider has accepted the credentials. A reconnected account keeps its id, and must have
the same identity.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

from webapp import audit
from webapp.audit import Actor
from webapp.errors import Conflict, Detail, Invalid, NotFound
from webapp.kit.crypto import new_id
from webapp.service.catalog.app import App
from webapp.service.domain.access.connect_tokens import ConnectToken
from webapp.service.domain.accounts import (
    account_names,
    account_state,
    accounts,
    check_times,
    credentials,
    fields,
    notifications,
    oauth_apps,
    provider,
    refresh_times,
    retry_times,
)
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.attempts import KEEP_BOTH, REPLACE, SITE, Question, Undecided
from webapp.service.domain.accounts.oauth_apps import OAuthApp
from webapp.service.domain.base.failures import CredentialsRefused, ProviderDown, ScopesMissing, WrongAccount
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import activity, external_users, projects
from webapp.service.domain.projects.external_users import ExternalUser
from webapp.service.domain.projects.projects import Scene
from webapp.service.outbound.oauth import TokenResult
from webapp.store.contract import Tx

OnCommit = Callable[[Tx, str], None]
"""Called with the account's id in the transaction that commits it, to write what belongs to it."""
Answers = Mapping[str, str] | None
"""What the person has decided so far, by the kind of question; None where there is nobody to ask."""
ImportState = Literal["tested", "renewed", "untested"]


def unavailable_reason(
    service: Service, app: App, project_id: str, oauth_app_id: str | None = None, *, user_id: str | None = None
) -> str | None:
    """Why ``app`` cannot be connected in this project by the user ``user_id``, in one sentence; None when it can."""
    if app.auth_type == "none":
        return f"{app.name} needs no account."
    chosen = (service.store, project_id, app.slug, oauth_app_id)
    if app.signs_in and oauth_app_id:
        app = app.by_sign_in
    if app.auth_type == "oauth" and oauth_apps.choose(*chosen, user_id=user_id) is None and app.server != "registers":
        return f"{app.name} has no OAuth client yet. Whoever runs this service adds one, once for everybody."
    return None


@dataclass(frozen=True, slots=True)
class AcceptedCredentials:
    """Credentials that the provider accepted, on their way to an account."""

    app: App
    values: Mapping[str, str]
    identity_id: str | None
    identity_name: str | None
    identity_text: str | None
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
    texts: Mapping[str, str],
    *,
    name: str | None = None,
    account_id: str | None = None,
    on_commit: OnCommit | None = None,
    answers: Answers = None,
) -> Account:
    """Connect ``app`` with the values of its custom fields, which are tested first.

    If the project does not require the test (``connect_require_key_auth_test`` false), an account whose test failed or
    could not be made is stored, and marked unhealthy. Raises :class:`Invalid` for a bad field,
    :class:`CredentialsRefused`, :class:`ProviderDown`, :class:`WrongAccount`, :class:`NotFound`, :class:`Undecided`.
    """
    if app.auth_type != "keys":
        message = f"{app.name} is not connected by keys."
        raise Invalid(message, [Detail("app_slug", message)])
    existing = to_reconnect(service, token, app, account_id)
    values = fields.checked(app.spec.fields, texts)
    name = account_names.checked(name)
    session, outcome = provider.identify_session(service, app, values)
    project = projects.get(service.store, token.scene.project_id)
    if outcome.kind != "ok" and project.connect_require_key_auth_test:
        raise _not_accepted(outcome)
    trouble = None if outcome.kind == "ok" else outcome.sentence
    identity = (outcome.identity_id, outcome.identity_name, outcome.identity_text)
    accepted = AcceptedCredentials(app, session.values, *identity, trouble, name, expires_at=session.expires_at)
    return _commit(service, token, accepted, existing, on_commit, answers)


def connect_with_grant(
    service: Service,
    token: ConnectToken,
    app: App,
    client: OAuthApp,
    result: TokenResult,
    *,
    requested: Sequence[str],
    profile: str | None,
    fields: Mapping[str, str],
    account_id: str | None,
    on_commit: OnCommit | None = None,
    answers: Answers = None,
) -> Account:
    """Connect ``app`` by the tokens that its provider has just issued.

    Raises :class:`ScopesMissing`, :class:`CredentialsRefused`, :class:`ProviderDown`, :class:`WrongAccount`,
    :class:`NotFound`, :class:`Undecided`.
    """
    existing = to_reconnect(service, token, app, account_id)
    granted = tuple(requested) if result.scopes is None else tuple(result.scopes)
    _check_scopes(app, token, [scope for scope in requested if scope not in client.additional_scopes], granted)
    values = {**fields, **provider.kept_of_tokens(app, result), credentials.ACCESS_TOKEN: result.access_token}
    if result.refresh_token:
        values[credentials.REFRESH_TOKEN] = result.refresh_token
    sites = provider.look_up(service, app, values)
    if isinstance(sites, provider.CheckResult):
        raise _not_accepted(sites)
    site = _site(service, app, sites, existing, answers)
    values |= site
    outcome = provider.identify(service, app, credentials.with_client(service, app, client, values))
    if outcome.kind != "ok":
        raise _not_accepted(outcome)
    if outcome.identity_id:
        values[credentials.UID] = outcome.identity_id
    accepted = AcceptedCredentials(
        app,
        values,
        outcome.identity_id,
        account_names.at_site(app, outcome.identity_name, site, sites),
        account_names.at_site(app, outcome.identity_text, site, sites),
        oauth_app_id=client.id,
        scopes=granted,
        profile=profile,
        expires_at=refresh_times.expiry_time(service.clock(), result),
    )
    return _commit(service, token, accepted, existing, on_commit, answers)


def store_imported(
    service: Service,
    scene: Scene,
    external_id: str,
    accepted: AcceptedCredentials,
    *,
    account_id: str,
    existing: Account | None = None,
    state: ImportState = "tested",
) -> Account:
    """Store an account that comes from another service under ``account_id``, or over ``existing``.

    What is not ``tested`` is tested within the hour. A ``renewed`` one is not in the activity yet: its test follows at
    once. Raises :class:`Conflict` if its credentials were renewed since ``existing`` was read, :class:`Invalid`.
    """
    with service.store.write() as tx:
        user = external_users.ensure(tx, scene, external_id, service.clock())
        account = _account(service, tx, user, accepted, existing, account_id)
        if state != "tested":
            due = check_times.first_check_time(account_id, account.created_at)
            refreshed_at = account.created_at if state == "renewed" else None
            account = account._replace(last_checked_at=None, next_check_at=due, last_refreshed_at=refreshed_at)
        if existing is None:
            account_state.insert(tx, account)
        else:
            if account_state.reread(tx, existing).revision != existing.revision:
                raise Conflict("Its access was renewed meanwhile. Run the import again.")
            account_state.overwrite(tx, existing, account)
        if state != "renewed":
            sentence = f"Imported as {accepted.identity_name}." if accepted.identity_name else "Imported."
            activity.write(tx, account.subject, account.updated_at, "connected", sentence, good=True)
        return accounts.get(tx, scene, account.id)


def to_reconnect(service: Service, token: ConnectToken, app: App | None, account_id: str | None) -> Account | None:
    """The account to reconnect, which must be the token's own and of ``app``, if that is known. Raises
    :class:`NotFound`."""
    if account_id is None:
        return None
    account = accounts.get(service.store, token.scene, account_id, user=token.user)
    if app is not None and account.app != app.slug:
        raise NotFound("There is no such account.")
    return account


def _site(
    service: Service, app: App, sites: Sequence[Mapping[str, str]], existing: Account | None, answers: Answers
) -> Mapping[str, str]:
    """The site of the account: the previous one, or the one that the person chooses. Raises :class:`Undecided`."""
    if len(sites) == 1 or answers is None:
        return sites[0]
    label = app.site_label
    before = credentials.read(service, existing).get(label) if existing else None
    for wanted in (answers.get(SITE), before):
        if site := next((site for site in sites if site[label] == wanted), None):
            return site
    raise Undecided(Question(SITE, app.name, tuple((site[label], site[label]) for site in sites)))


def _check_scopes(app: App, token: ConnectToken, requested: Sequence[str], granted: Sequence[str]) -> None:
    needed = app.functional_scopes if token.allow_progressive_scopes else requested
    missing = [scope for scope in needed if scope not in granted and not app.implied(scope, granted)]
    if missing:
        words = "; ".join(app.scope_words(scope) for scope in missing)
        raise ScopesMissing(f"{app.name} did not grant everything that this connection needs. Missing: {words}.")


def _not_accepted(outcome: provider.CheckResult) -> CredentialsRefused | ProviderDown:
    return CredentialsRefused(outcome.sentence) if outcome.kind == "refused" else ProviderDown(outcome.sentence)


def _commit(
    service: Service,
    token: ConnectToken,
    accepted: AcceptedCredentials,
    existing: Account | None,
    on_commit: OnCommit | None,
    answers: Answers,
) -> Account:
    if existing is not None:
        _check_identity(accepted, existing)
    else:
        existing = _to_replace(service, token, accepted, answers)
    with _by(token), service.store.write() as tx:
        account = _account(service, tx, token.user, accepted, existing)
        if existing is None:
            account_state.insert(tx, account)
        else:
            account_state.overwrite(tx, existing, account)
        kind = "connected" if existing is None else "reconnected"
        activity.write(
            tx, account.subject, account.updated_at, kind, _activity_sentence(kind, accepted.identity_name), good=True
        )
        if accepted.trouble:
            activity.write(tx, account.subject, account.updated_at, "trouble", accepted.trouble, good=False)
        if on_commit is not None:
            on_commit(tx, account.id)
        committed = accounts.get(tx, account.scene, account.id)
        notifications.notify_connected(tx, service, token, committed)
    service.wake()
    return committed


def _activity_sentence(kind: str, name: str | None) -> str:
    if kind == "connected":
        return f"Connected as {name}." if name else "Connected."
    return f"Reconnected as {name}." if name else "Reconnected."


def _to_replace(
    service: Service, token: ConnectToken, accepted: AcceptedCredentials, answers: Answers
) -> Account | None:
    """The account to replace, as the person chooses; None to keep both. Raises :class:`Undecided`."""
    if answers is None or accepted.identity_id is None or answers.get(REPLACE) == KEEP_BOTH:
        return None
    of_app = accounts.of_app(service.store, token.scene, accepted.app.slug, user=token.user)
    same = [account for account in of_app if account.identity_id == accepted.identity_id]
    if not same:
        return None
    if chosen := next((account for account in same if account.id == answers.get(REPLACE)), None):
        return chosen
    options = tuple((account.id, account.name or account.identity_name or account.id) for account in same)
    raise Undecided(Question(REPLACE, accepted.identity_text or accepted.identity_id, options))


def _by(token: ConnectToken) -> AbstractContextManager[None]:
    """Whoever calls the API connects the account; on a page of the Connect Link it is the token's own user."""
    return nullcontext() if audit.current() != audit.SYSTEM else audit.acting(Actor("user", token.user.external_id))


def _check_identity(accepted: AcceptedCredentials, existing: Account) -> None:
    if existing.identity_id and not accepted.identity_id and accepted.app.identity_request and not accepted.trouble:
        raise ProviderDown(
            f"{accepted.app.name} did not say whose account you signed in to, so it cannot take the place of "
            f"{existing.identity_name or existing.identity_id}. Try again in a few minutes."
        )
    if existing.identity_id and accepted.identity_id and existing.identity_id != accepted.identity_id:
        raise WrongAccount(
            f"This account belongs to {existing.identity_name or existing.identity_id}, but you signed in as "
            f"{accepted.identity_name or accepted.identity_id}. Sign in as "
            f"{existing.identity_name or existing.identity_id}, or connect "
            f"{accepted.identity_name or accepted.identity_id} as a new account."
        )


def _account(
    service: Service,
    tx: Tx,
    user: ExternalUser,
    accepted: AcceptedCredentials,
    existing: Account | None,
    new_account_id: str | None = None,
) -> Account:
    now = service.clock()
    account_id = existing.id if existing else new_account_id or new_id("apn")
    failures = 0 if accepted.trouble is None else 1
    sealed, version = credentials.seal(service, tx, user.scene.project_id, account_id, accepted.values)
    fresh = Account(
        id=account_id,
        scene=user.scene,
        external_user_id=user.id,
        external_id=user.external_id,
        app=accepted.app.slug,
        oauth_app_id=accepted.oauth_app_id,
        name=accepted.name
        or (existing and existing.name)
        or account_names.free(tx, user.id, accepted.app.slug, accepted.identity_text, but=account_id),
        identity_id=accepted.identity_id,
        identity_name=accepted.identity_name,
        healthy=accepted.trouble is None,
        dead=False,
        error=accepted.trouble,
        authorized_scopes=accepted.scopes,
        scope_profile=accepted.profile,
        credentials_sealed=sealed,
        credentials_key=version,
        expires_at=accepted.expires_at,
        last_refreshed_at=None,
        next_refresh_at=refresh_times.refresh_time(now, accepted.values, accepted.expires_at),
        last_checked_at=now,
        next_check_at=retry_times.retry_time(failures, now) if failures else check_times.check_time(account_id, now),
        failures=failures,
        lease_until=0,
        revision=0,
        created_at=now,
        updated_at=now,
    )
    if existing is None:
        return fresh
    return fresh._replace(
        identity_id=accepted.identity_id or existing.identity_id,
        identity_name=accepted.identity_name or existing.identity_name,
        created_at=existing.created_at,
    )
