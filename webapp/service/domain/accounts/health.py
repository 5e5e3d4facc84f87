"""Tests an account at its provider, and revokes its access there.

At some providers, revoking one token revokes all access that a person has granted to a client (``revokes = "client"``).
Revoking one account then ends all accounts of the same user, identity and client at the provider. Accounts of other
users are never named.

Which answers of a provider end an account is decided where they are read: to a test in
:mod:`webapp.service.outbound.probe`, to a refresh in the modules that :mod:`token_refresh` names. Where an app has no
test, a refusal of the credentials ends it at once, unless they can be renewed (:func:`after_refusal`).
"""

from webapp.errors import Conflict, NotFound, PatchbayError, Refused, UpstreamFailed
from webapp.kit.sentences import marked
from webapp.service.catalog.app import App
from webapp.service.domain.accounts import account_state, accounts, credentials, oauth_apps, provider, token_refresh
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.provider import CheckResult
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import activity, external_users
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.templates import TemplateError

REVOKED_HERE = marked("You revoked the access. Reconnect the account to use it again.")


def check(service: Service, account: Account) -> Account:
    """Test ``account`` with its app's test request, and return it with the result.

    An expired token is refreshed first. A dead account stays dead until it is reconnected. An account whose app was
    removed is returned as it is.
    """
    app = accounts.find_app(service, account)
    if account.dead or app is None:
        return account
    try:
        account = token_refresh.ensure_fresh(service, account)
    except PatchbayError:
        with service.store.write() as tx:
            return account_state.reread(tx, account)
    outcome = provider.test(service, app, credentials.read(service, account))
    if outcome.kind != "refused":
        return _record(service, account, outcome)
    return _refused(service, app, account, outcome.sentence)


def after_refusal(service: Service, used: Account) -> Account:
    """Return the account of ``used`` after its provider refused the credentials.

    The first caller checks it: a token is renewed, once for all callers, and a permanent refusal makes the account
    dead. An account that passes its app's test is unchanged, since the refusal was about the request. Without such a
    test, the refusal of a token (RFC 6750 section 3.1) counts.
    """
    account, app = account_state.reread(service.store, used), accounts.find_app(service, used)
    if account.dead or account.revision != used.revision or app is None:
        return account
    if (app.oauth or app.session) and not provider.can_test(app):
        return _refused(service, app, account, f"{app.name} no longer accepts it.")
    return check(service, account)


def revoke(service: Service, account: Account) -> Account:
    """Revoke the account's access at the provider. The account is dead until its person reconnects it.

    Raises :class:`Conflict` where the provider has no way to do it, :class:`UpstreamFailed` when it does not answer.
    """
    app = accounts.app_of(service, account)
    if not app.can_revoke:
        raise Conflict(f"{app.name} cannot revoke access from here. Remove it in your settings at {app.name}.")
    if account.dead:
        raise Conflict("The access to this account has already ended.")
    if app.revocation_request is not None:
        account = token_refresh.ensure_fresh(service, account)  # an expired token would look like one that is revoked
    try:
        outcome = provider.revoke(service, account, credentials.read(service, account))
    except TemplateError as error:
        raise UpstreamFailed(str(error)) from error
    if isinstance(outcome, OAuthFailure):
        raise UpstreamFailed(outcome.sentence)
    others = also_revoked(service, account)
    after = account_state.mark_dead(service, account, REVOKED_HERE)
    with service.store.write() as tx:
        activity.write(tx, account.subject, service.clock(), "revoked", f"Access revoked at {app.name}.", good=True)
        account_state.check_soon(tx, service.clock(), others)
    service.wake()
    return after


def _refused(service: Service, app: App, account: Account, sentence: str) -> Account:
    """Handle refused credentials: refresh a token once and test again; a refused key makes the account dead."""
    values = credentials.read(service, account)
    if not credentials.renewable(values):
        return account_state.mark_dead(service, account, sentence)
    try:
        account = token_refresh.refresh(service, account)
    except (Refused, UpstreamFailed):
        with service.store.write() as tx:
            return account_state.reread(tx, account)
    return _record(service, account, provider.test(service, app, credentials.read(service, account)))


def _record(service: Service, account: Account, outcome: CheckResult) -> Account:
    """Write down what the test of ``account`` showed, and return the account with it."""
    if outcome.kind == "ok":
        return account_state.mark_working(service, account)
    if outcome.kind == "trouble":
        return account_state.mark_retrying(service, account, outcome.sentence, retry_after_s=outcome.retry_after_s)
    return account_state.mark_dead(service, account, outcome.sentence)


def also_revoked(service: Service, account: Account) -> list[Account]:
    """The user's other working accounts whose access also ends when that of ``account`` is revoked at the provider."""
    app = accounts.find_app(service, account)
    user = external_users.find(service.store, account.scene, account.external_id)
    if app is None or app.oauth is None or app.oauth.revokes == "sign_in" or user is None or not account.identity_id:
        return []
    clients = _same_clients(service, account)
    return [
        other
        for other in accounts.of_user(service.store, user)
        if other.id != account.id
        and not other.dead
        and other.identity_id == account.identity_id
        and other.oauth_app_id in clients
    ]


def _same_clients(service: Service, account: Account) -> set[str]:
    try:
        client = oauth_apps.get(service.store, account.oauth_app_id or "")
    except NotFound:
        return set()
    return {other.id for other in oauth_apps.sharing(service.store, client)}
