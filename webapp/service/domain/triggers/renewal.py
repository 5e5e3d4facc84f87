"""Renews the subscriptions of triggers before they end, and creates those anew that an app lost.

While an app sends no notifications, the trigger polls on its schedule; it polls once more when they resume, so that no
event is missed. The trigger's people are notified when an app stops sending and when it resumes.
"""

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import MINUTE, SECOND
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import activity
from webapp.service.domain.triggers import calls, deployed_triggers, lifecycle, subscriptions, trigger_accounts
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.subscriptions import RenewedSubscription
from webapp.store.contract import Tx

TOLD_AFTER = 3
"""So many renewals have to fail in a row before people are told."""
SHORTEST = 10 * SECOND
"""What ends sooner has failed, as where this machine's clock is ahead: it would be made anew without end."""
_OVER = "What the app made has ended already. Check the clock of this machine."
_BUSY = 10 * SECOND
_WAITING = 10 * MINUTE


def renew(service: Service, claimed: RenewedSubscription) -> None:
    """Renew what :func:`subscriptions.claim` returned. One that waits is left unchanged."""
    trigger = deployed_triggers.find(service.store, claimed.trigger_id)
    if trigger is None:
        return
    try:
        if trigger_accounts.why_waiting(service, [trigger]):
            _postpone(service, trigger, _WAITING)
            return
        with lifecycle.locked(service, trigger) as current:
            if current.active:
                _renew(service, current, claimed)
    except Conflict:
        _postpone(service, trigger, _BUSY)
    except NotFound:
        return  # it was deleted meanwhile, and its subscription with it
    service.wake()


def _renew(service: Service, trigger: DeployedTrigger, claimed: RenewedSubscription) -> None:
    reply = calls.run_hook(service, trigger, "renew", deployed_triggers.configured(service, trigger))
    now = service.clock()
    error = reply.error.message if reply.error else None
    if error is None and reply.ends_at is not None and reply.ends_at < now + SHORTEST:
        error = _OVER
    with service.store.write() as tx:
        if error is not None:
            subscriptions.fail(tx, claimed, error, now)
            if claimed.failures + 1 == TOLD_AFTER:
                _tell(tx, service, trigger, error)
        elif reply.ends_at is not None:
            subscriptions.keep(tx, trigger.id, reply.ends_at, now)
            if not claimed.stands(now):
                lifecycle.poll_soon(tx, trigger.id, now)  # for what came while nobody told
            if claimed.failures >= TOLD_AFTER:
                _tell(tx, service, trigger, None)


def _tell(tx: Tx, service: Service, trigger: DeployedTrigger, error: str | None) -> None:
    """Record in the activity that the app stops sending notifications, or resumes."""
    app = service.catalog.app(trigger.app) if trigger.app else None
    name = app.name if app else "Its app"
    sentence = f"{name} tells {trigger.name} of news again." if error is None else _stops(name, trigger, error)
    kind = "trigger_told" if error is None else "trigger_not_told"
    activity.write(tx, trigger.subject, service.clock(), kind, sentence, good=error is None)


def _stops(name: str, trigger: DeployedTrigger, error: str) -> str:
    sentence = f"{name} does not tell {trigger.name} of news at the moment."
    looks = "It looks for news at its times meanwhile." if trigger.schedule else "It gets nothing meanwhile."
    return f"{sentence} {looks} {error}"


def _postpone(service: Service, trigger: DeployedTrigger, wait: int) -> None:
    with service.store.write() as tx:
        subscriptions.postpone(tx, trigger.id, service.clock() + wait)
