"""Renews the subscriptions of triggers before they end, and replaces those that an app lost.

While an app sends no notifications, the trigger polls on its schedule; it polls once more when they resume, so that no
event is missed. The trigger's people are notified when an app stops sending and when it resumes.
"""

from webapp.errors import Conflict, NotFound
from webapp.kit.clock import MINUTE, SECOND
from webapp.service.domain.base.service import Service
from webapp.service.domain.projects import activity
from webapp.service.domain.triggers import calls, deployed_triggers, lifecycle, subscriptions, waiting_triggers
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.subscriptions import Subscription
from webapp.store.contract import Tx

NOTIFIED_AFTER = 3
"""The number of failed renewals in a row after which people are notified."""
SHORTEST = 10 * SECOND
"""A renewal that ends sooner counts as failed. A machine whose clock is ahead would otherwise renew it in a loop."""
_ALREADY_ENDED = "The new subscription has already ended. Check the clock of this machine."
_BUSY = 10 * SECOND
_WAITING = 10 * MINUTE


def renew(service: Service, claimed: Subscription) -> None:
    """Renew what :func:`subscriptions.claim` returned. One that waits is left unchanged."""
    trigger = deployed_triggers.find(service.store, claimed.trigger_id)
    if trigger is None:
        return
    try:
        if waiting_triggers.reasons(service, [trigger]):
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


def _renew(service: Service, trigger: DeployedTrigger, claimed: Subscription) -> None:
    reply = calls.run_hook(service, trigger, "renew", deployed_triggers.configured(service, trigger))
    now = service.clock()
    error = reply.error.message if reply.error else None
    if error is None and reply.ends_at is not None and reply.ends_at < now + SHORTEST:
        error = _ALREADY_ENDED
    with service.store.write() as tx:
        if error is not None:
            subscriptions.fail(tx, claimed, error, now)
            if claimed.failures + 1 == NOTIFIED_AFTER:
                _notify(tx, service, trigger, error)
        elif reply.ends_at is not None:
            subscriptions.set_end(tx, trigger.id, reply.ends_at, now)
            if not claimed.is_active(now):
                lifecycle.poll_soon(tx, trigger.id, now)  # for what happened while no notifications came
            if claimed.failures >= NOTIFIED_AFTER:
                _notify(tx, service, trigger, None)


def _notify(tx: Tx, service: Service, trigger: DeployedTrigger, error: str | None) -> None:
    """Record in the activity that the app stops sending notifications, or resumes."""
    app = service.catalog.app(trigger.app) if trigger.app else None
    name = app.name if app else "Its app"
    sentence = (
        f"{name} sends notifications to {trigger.name} again."
        if error is None
        else _stopped_sentence(name, trigger, error)
    )
    kind = "trigger_told" if error is None else "trigger_not_told"
    activity.write(tx, trigger.subject, service.clock(), kind, sentence, good=error is None)


def _stopped_sentence(name: str, trigger: DeployedTrigger, error: str) -> str:
    sentence = f"{name} is not sending notifications to {trigger.name}."
    fallback = (
        "Until it does, the trigger polls on its schedule."
        if trigger.schedule
        else "Until it does, the trigger gets no events."
    )
    return f"{sentence} {fallback} {error}"


def _postpone(service: Service, trigger: DeployedTrigger, wait: int) -> None:
    with service.store.write() as tx:
        subscriptions.postpone(tx, trigger.id, service.clock() + wait)
