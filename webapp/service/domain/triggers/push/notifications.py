"""Requests by which an app says that there is something new for a trigger that polls: it then looks at once.

A request is answered within a moment. It is believed for the secret in it alone, and all that it brings about is a
look: so one that comes twice, or that somebody replays, brings nothing twice.
"""

import logging

from webapp.service.components.calls import HttpAnswer
from webapp.service.components.declared import definition, webhooks
from webapp.service.components.declared.form import Push, TriggerForm
from webapp.service.components.declared.webhooks import SECRET
from webapp.service.components.errors import LoadError
from webapp.service.domain.base.service import Service
from webapp.service.domain.triggers import calls, lifecycle, requests, runs
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger
from webapp.service.domain.triggers.push import subscriptions
from webapp.service.domain.triggers.requests import InboundRequest

MOST_ANSWERED = 4_096  # characters of what an app sends to try an address
_TEXT = {"content-type": "text/plain; charset=utf-8"}
log = logging.getLogger(__name__)


def receive(service: Service, trigger: DeployedTrigger, received: InboundRequest) -> HttpAnswer | None:
    """Take in what came to the address of ``trigger``, and say what to answer; None for a trigger that no app tells to
    look."""
    push = _push(service, trigger) if trigger.told_to_look else None
    if push is None:
        return None
    event = requests.kept(received, timestamp=received.at).payload()
    challenge = webhooks.challenge_answer(push, event)
    if challenge is not None:
        return HttpAnswer(200, challenge[:MOST_ANSWERED], _TEXT)
    secret = runs.remembered(service, trigger).get(SECRET)
    notification = webhooks.read(push, secret, event) if secret else None
    if notification is None:
        log.info("A request to %s was ignored: it does not bear the secret.", trigger.id)
        return HttpAnswer(401, "The secret does not fit.", _TEXT)
    if notification.look:
        now = service.clock()
        with service.store.write() as tx:
            lifecycle.look_soon(tx, trigger.id, now)
            if notification.renew:
                subscriptions.hasten(tx, trigger.id, now)
        service.wake()
    return HttpAnswer(202, "", _TEXT)


def _push(service: Service, trigger: DeployedTrigger) -> Push | None:
    component = calls.component_of(service, trigger)
    if component is None or "renew" not in component.hooks:
        return None
    try:
        form = definition.component(component.path).form
    except LoadError:
        return None
    return form.push if isinstance(form, TriggerForm) else None
