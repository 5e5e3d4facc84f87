"""Refreshes the tokens of accounts, when they are used and before they expire (:mod:`refresh_times` says how long).
:mod:`account_state`, which writes the rows of accounts, claims a refresh for one caller and stores its outcome.

Refreshing is single-flight: of all callers that find a token expired, one refreshes and the others wait for it. The
lock is a lease in the account's row, which all processes respect and which lasts longer than the request's deadline.
Its holder works with the revision that it read under the lock. After a temporary failure no request is made during a
cool-down, which lasts at least as long as the provider's Retry-After, of which a day counts (:mod:`retry_times`). Which
answers of a provider end an account (``grant_dead``, such as ``invalid_grant``) is decided in
:mod:`webapp.service.outbound.oauth_failures`, and for a session in :mod:`webapp.service.outbound.key_sessions`. A
response without a refresh token keeps the old one (RFC 6749 section 6).
"""

import time
from dataclasses import replace

from webapp.errors import NotFound, Refused, UpstreamFailed, UpstreamTimedOut
from webapp.kit.slots import this_thread
from webapp.service.domain.accounts import account_state, accounts, apps, credentials, provider, refresh_times
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.accounts.credentials import ACCESS_TOKEN, REFRESH_TOKEN
from webapp.service.domain.base.service import Service
from webapp.service.outbound.oauth import TokenResult
from webapp.service.outbound.oauth_failures import OAuthFailure
from webapp.service.outbound.templates import TemplateError

WAIT_S = 45.0
_POLL_S = 0.05


def ensure_fresh(service: Service, account: Account) -> Account:
    """``account`` with a token that is good for at least 30 seconds more, refreshed when it must be.

    Raises :class:`Refused` (dead: the person must reconnect), :class:`UpstreamFailed` (the provider does not refresh
    now), :class:`UpstreamTimedOut` (another process is at it for too long), :class:`NotFound` (removed meanwhile).
    """
    if account.dead:
        raise Refused(account.error)
    return account if is_fresh(service, account) else refresh(service, account)


def is_fresh(service: Service, account: Account) -> bool:
    """Whether the token of ``account`` is good for at least 30 seconds more, or never expires."""
    return refresh_times.is_usable(service.clock(), account.expires_at)


def refresh(service: Service, account: Account) -> Account:
    """Refresh ``account`` now, or wait for a refresh that is running. Raises like :func:`ensure_fresh`."""
    give_up = time.monotonic() + WAIT_S
    while time.monotonic() < give_up:
        current = accounts.get(service.store, account.scene, account.id)
        if current.dead:
            raise Refused(current.error)
        if reason := apps.removed_reason(service, current.app):
            account_state.put_off_refresh(service, current)
            raise UpstreamFailed(reason)
        if current.revision != account.revision:
            return current
        if current.failures and (current.next_refresh_at or 0) > service.clock():
            return _cooling_down(service, current)
        claimed = account_state.claim_refresh(service, current)
        if claimed is not None:
            cut_off = current.lease_holder is not None and current.lease_until <= service.clock()
            return _exchange(service, claimed, cut_off=cut_off)
        with this_thread.waiting:
            time.sleep(_POLL_S)
    raise UpstreamTimedOut("Refreshing the account's token is taking too long; try again in a minute.")


def _cooling_down(service: Service, account: Account) -> Account:
    if account.expires_at is not None and account.expires_at > service.clock():
        return account
    raise UpstreamFailed(account.error)


def _exchange(service: Service, account: Account, *, cut_off: bool = False) -> Account:
    """Refresh under the lease, and store the result.

    ``cut_off``: the last refresh was interrupted before its result was stored, which may have been the only valid
    token.
    """
    values, app = credentials.read(service, account), accounts.find_app(service, account)
    if app is not None and app.session is not None:
        session = provider.begin_session(service, app, app.session, values)
        if isinstance(session, OAuthFailure):
            return _failed(service, account, session)
        return account_state.save_refresh(service, account, session.values, session.expires_at)
    if not values.get(REFRESH_TOKEN):
        account_state.mark_dead(service, account, _not_renewable(service, account))
        raise Refused(_not_renewable(service, account))
    try:
        result = provider.refresh(service, account, values)
    except NotFound:
        sentence = "The OAuth client of this account was removed; its operator must add it again."
        account_state.mark_retrying(service, account, sentence)
        raise UpstreamFailed(sentence) from None
    except TemplateError as error:
        result = OAuthFailure("temporary", str(error))
    if isinstance(result, OAuthFailure):
        if result.kind == "grant_dead" and cut_off:
            result = replace(result, sentence=_lost(service, account))
        return _failed(service, account, result)
    expires_at = refresh_times.expiry_time(service.clock(), result)
    return account_state.save_refresh(service, account, _merged(values, result), expires_at)


def _merged(values: dict[str, str], result: TokenResult) -> dict[str, str]:
    """The credentials after a refresh: the old ones, updated with the new tokens."""
    merged = {**values, ACCESS_TOKEN: result.access_token}
    if result.refresh_token:
        merged[REFRESH_TOKEN] = result.refresh_token
    return merged


def _failed(service: Service, account: Account, failure: OAuthFailure) -> Account:
    if failure.kind == "grant_dead":
        account_state.mark_dead(service, account, failure.sentence)
        raise Refused(failure.sentence)
    after = account_state.mark_retrying(service, account, failure.sentence, retry_after_s=failure.retry_after_s)
    return _cooling_down(service, after)


def _not_renewable(service: Service, account: Account) -> str:
    app = accounts.find_app(service, account)
    name = app.name if app else account.app
    return f"The access has expired and {name} gave no way to renew it. Reconnect the account."


def _lost(service: Service, account: Account) -> str:
    name = accounts.app_of(service, account).name
    return (
        f"This server was stopped in the middle of renewing the access, before {name}'s new token was saved, "
        "and the old one is no longer valid. Reconnect the account."
    )
