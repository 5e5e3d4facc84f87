"""Calling the runner with accounts: one call of a component, whichever way it was asked for.

Where a provider refuses the credential in the middle, the account is looked after at once (``health.after_refusal``):
renewed, and the call made again where nothing was changed before; or marked, and the person told to reconnect it.
"""

import time
from collections.abc import Mapping
from dataclasses import replace

from webapp.errors import NotFound
from webapp.service.components.calls import Call, ErrorInfo, Observation, Reply
from webapp.service.domain.accounts import health
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import grants
from webapp.service.domain.components.grants import AccountUnusable, CallGrants

UNUSABLE = "AccountError"


def call(service: Service, request: Call, chosen: Mapping[str, Account], app_slug: str | None) -> Reply:
    """Make the call ``request`` with the ``chosen`` accounts, by app prop, for a component of the app ``app_slug``.

    An account that cannot be used is a failed reply, as everything is that goes wrong.
    """
    started = time.monotonic()
    try:
        granted = grants.grant_accounts(service, chosen, app_slug)
        reply = _make(service, request, granted)
        if not reply.refused:
            return reply
        after = {prop: _settle(service, granted.used[prop], reply) for prop in reply.refused}
        renewed = all(account.revision != granted.used[prop].revision for prop, account in after.items())
        left_s = request.deadline_s - (time.monotonic() - started)
        if reply.ok or not renewed or not reply.repeatable or left_s < 1:
            return reply
        again = grants.grant_accounts(service, {**granted.used, **after}, app_slug)
        return _make(service, replace(request, deadline_s=left_s), again)
    except (AccountUnusable, NotFound) as error:
        return failed(service, error.message, round((time.monotonic() - started) * 1000))


def failed(service: Service, sentence: str, took_ms: int = 0) -> Reply:
    """A reply that says why an account could not be used."""
    info = ErrorInfo("exception", UNUSABLE, sentence)
    return Reply(None, observations=(Observation("error", service.clock(), err=info),), error=info, took_ms=took_ms)


def _make(service: Service, request: Call, granted: CallGrants) -> Reply:
    return service.runner.call(replace(request, accounts=granted.accounts, allow_hosts=granted.allow_hosts))


def _settle(service: Service, used: Account, reply: Reply) -> Account:
    """The account after it was looked after. Raises :class:`AccountUnusable` where it is to be reconnected.

    What a component did although its account was refused stands.
    """
    account = health.after_refusal(service, used)
    if account.dead and not reply.ok:
        raise grants.reconnect(service, account, account.error)
    return account
