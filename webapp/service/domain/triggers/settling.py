"""Settling what a process left half-way that died while a trigger's hooks ran: done to its end, or undone.

After that the trigger says what is so. Where neither works, it is switched off with the reason, and its people are
told. A hook may run a second time here: it may have done its work before, or half of it.
"""

import logging
from collections.abc import Callable

from webapp.errors import Invalid, NotFound, PatchbayError
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import calls, changing, deployed_triggers, deploying, lifecycle, plans
from webapp.service.domain.triggers.changing import Change
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.plans import Plan

_BROKEN_DELETION = "Its deletion broke off, and it could not be unsubscribed: {reason} Delete it again."
_NOT_RESTORED = "A change broke off, and what stood before could not be brought back. {reason}"
log = logging.getLogger(__name__)


def settle(service: Service) -> int:
    """Settle everything that nobody is at work on any more; how many plans and deployments there were."""
    settled = deploying.purge(service)
    for trigger in _abandoned(service):
        try:
            with lifecycle.locked(service, trigger) as current:
                plan = plans.find(service.store, trigger.id)
                if plan is not None:
                    _SETTLE[plan.kind](service, current, plan)
                    settled += 1
        except PatchbayError as error:
            log.info("What broke off at %s is settled later: %s", trigger.id, error.message)
    if settled:
        service.wake()
    return settled


def _abandoned(service: Service) -> list[DeployedTrigger]:
    where = f"id IN (SELECT trigger_id FROM trigger_plans) AND deployed = 1 AND {lifecycle.FREE}"  # noqa: S608
    return deployed_triggers.ROWS.all(service.store, where, {"now": service.clock(), "busy": lifecycle.BUSY})


def _change(service: Service, trigger: DeployedTrigger, plan: Plan) -> None:
    try:
        changing.finish(service, trigger, Change(**plans.wish(service, plan)), plan.phase)
    except (Invalid, NotFound):  # such as the account that it was to get
        _subscribe_anew(service, trigger, plan)


def _delete(service: Service, trigger: DeployedTrigger, plan: Plan) -> None:
    failure = calls.try_hook(service, trigger, "deactivate", deployed_triggers.configured(service, trigger))
    if failure is None or failure.unusable:
        deploying.remove(service, trigger)
        return
    if failure.unknown:
        return
    with service.store.write() as tx:
        lifecycle.switch_off(tx, service, trigger, _BROKEN_DELETION.format(reason=failure.sentence))


def _subscribe_anew(service: Service, trigger: DeployedTrigger, plan: Plan) -> None:
    """As it stands: after a farewell that broke off, its account is still there."""
    configured = deployed_triggers.configured(service, trigger)
    calls.try_hook(service, trigger, "deactivate", configured)
    failure = calls.try_hook(service, trigger, "activate", configured) if trigger.active else None
    if failure is not None and failure.unknown:
        return
    with service.store.write() as tx:
        if failure is not None:
            lifecycle.switch_off(tx, service, trigger, _NOT_RESTORED.format(reason=failure.sentence))
        plans.end(tx, trigger.id)


_SETTLE: dict[str, Callable[[Service, DeployedTrigger, Plan], None]] = {
    "change": _change, "delete": _delete, "farewell": _subscribe_anew,
}  # fmt: skip
