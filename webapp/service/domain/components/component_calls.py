"""Calls a component with the accounts that its caller chose, granted for this call (:mod:`.account_grants`).

An account that cannot be used, such as a dead one, is a failed reply with a sentence for the person, not an error of
the request. If a provider refuses the credential during the call, the account is checked at once
(``health.after_refusal``): if it is renewed, and the call has changed nothing, the call is made again; otherwise it is
marked, and the person must reconnect it.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from webapp.errors import NotFound
from webapp.service.components.calls import Call, ErrorInfo, Observation, Reply
from webapp.service.components.pieces.form import ENDING as PIECE
from webapp.service.domain.accounts import accounts, health, provider_scopes
from webapp.service.domain.accounts.accounts import Account
from webapp.service.domain.base import piece_hosts
from webapp.service.domain.base.service import Service
from webapp.service.domain.components import account_grants
from webapp.service.domain.components.account_grants import AccountUnusable, CallGrants
from webapp.service.domain.projects.projects import Scene

_REFUSALS = (401, 403)
UNUSABLE = "AccountError"
REMOVED = "“{name}” was removed from this service, so nothing ran."


def call(service: Service, request: Call, chosen: Mapping[str, Account], app_slug: str | None) -> Reply:
    """Make the call ``request`` with the ``chosen`` accounts, by app prop, for a component of the app ``app_slug``.

    An account that cannot be used is a failed reply, as everything is that goes wrong.
    """
    started = time.monotonic()
    try:
        granted = account_grants.grant(service, chosen, app_slug)
        reply = _naming_scopes(service, request, granted, _make(service, request, granted))
        if not reply.refused:
            return reply
        after = {prop: _settle(service, granted.used[prop], reply) for prop in reply.refused}
        renewed = all(account.revision != granted.used[prop].revision for prop, account in after.items())
        left_s = request.deadline_s - (time.monotonic() - started)
        if reply.ok or not renewed or not reply.repeatable or left_s < 1:
            return reply
        again = account_grants.grant(service, {**granted.used, **after}, app_slug)
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


def _make(service: Service, request: Call, granted: CallGrants) -> Reply:
    whole = replace(request, accounts=granted.accounts, allow_hosts=granted.allow_hosts)
    reply = piece_hosts.call(service, whole) if request.path.endswith(PIECE) else service.executor.call(whole)
    return _naming_removal(service, request, reply)


def _naming_removal(service: Service, request: Call, reply: Reply) -> Reply:
    """``reply``; if another process has removed the component, which this one still lists, it says so."""
    error = reply.error
    if error is None or error.kind != "load" or Path(request.path).exists():
        return reply
    component = service.catalog.component(request.key, request.version)
    sentence = REMOVED.format(name=component.name if component else request.key)
    return _failed_with(reply, ErrorInfo("load", "Removed", sentence))


def _failed_with(reply: Reply, error: ErrorInfo) -> Reply:
    """``reply``, which failed, with ``error`` as its error and in its log."""
    *others, last = reply.observations
    return replace(reply, error=error, observations=(*others, replace(last, err=error)))


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
            return _failed_with(reply, named)
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
        raise account_grants.reconnect(service, account, account.error)
    return account
