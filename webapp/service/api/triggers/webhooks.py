"""Where a deployed trigger's events go (specification 4.11, 4.12): webhooks with their keys and state, and workflows.

Signing keys are given to OAuth clients alone (specification 5.7).
"""

from typing import Any

from flask import Response

from webapp.kit.clock import SECOND
from webapp.service.api.base import answers
from webapp.service.api.base.call import Call
from webapp.service.api.base.operations import Operation
from webapp.service.api.base.schema import Body, Flag
from webapp.service.api.triggers.owned import Owned, load
from webapp.service.domain.base import scopes
from webapp.service.domain.deliveries import endpoint_state, endpoints
from webapp.service.domain.deliveries.endpoints import Endpoint
from webapp.service.domain.triggers.deployed_triggers import DeployedTrigger


class WorkflowList(Owned):
    """Whose; ``extensions`` adds what is ours alone: the workflows' names and how they do."""

    extensions: Flag = False


class Urls(Body):
    """The whole list."""

    webhook_urls: list[str]


class Workflows(Body):
    """The whole list of workflow ids."""

    workflow_ids: list[str]


def index(call: Call) -> Response:
    """The webhooks of a trigger."""
    return _listed(call, load(call, call.query(Owned)))


def replace(call: Call) -> Response:
    """Set the webhooks of a trigger; a URL that stays keeps its id and key."""
    trigger = load(call, call.query(Owned))
    urls = call.body(Urls).webhook_urls
    with call.store.write() as tx:
        endpoints.set_urls(tx, call.service, trigger, urls)
    return _listed(call, trigger)


def show(call: Call) -> Response:
    """One webhook."""
    return _one(call, _webhook(call))


def regenerate(call: Call) -> Response:
    """Give a webhook a new signing key."""
    found = _webhook(call)
    with call.store.write() as tx:
        endpoints.regenerate_key(tx, call.service, found)
    return _one(call, _webhook(call))


def reset(call: Call) -> Response:
    """Begin anew with a webhook that failed."""
    return _one(call, endpoint_state.reset(call.service, _webhook(call)))


def workflows(call: Call) -> Response:
    """The workflows of a trigger."""
    asked = call.query(WorkflowList)
    found = endpoints.workflows_of(call.store, load(call, asked).id)
    ids = {"workflow_ids": [one.id for one in found]}
    named = {"workflows": [_workflow_json(one) for one in found]} if asked.extensions else {}
    return answers.json(ids | named)


def set_workflows(call: Call) -> Response:
    """Set the workflows of a trigger."""
    trigger = load(call, call.query(Owned))
    wanted = call.body(Workflows).workflow_ids
    with call.store.write() as tx:
        endpoints.set_workflows(tx, trigger, wanted)
    return answers.json({"workflow_ids": [one.id for one in endpoints.workflows_of(call.store, trigger.id)]})


def _webhook(call: Call) -> Endpoint:
    trigger = load(call, call.query(Owned))
    return endpoints.webhook(call.store, trigger.id, call.path["webhook_id"])


def _one(call: Call, found: Endpoint) -> Response:
    """A webhook that is shown alone: with its times in epoch seconds, as clients expect it there."""
    times = {"created_at": found.created_at // SECOND, "updated_at": found.updated_at // SECOND}
    return answers.json({"data": _json(call, found) | times})


def _listed(call: Call, trigger: DeployedTrigger) -> Response:
    found = endpoints.of_trigger(call.store, trigger.id)
    entries = [_json(call, one) for one in found]
    return answers.json({"webhook_urls": [one.url for one in found], "webhooks": entries})


def _json(call: Call, endpoint: Endpoint) -> dict[str, Any]:
    """Specification 2.8, and WIRE's ``active`` and ``delivery_state``."""
    found: dict[str, Any] = {"id": endpoint.id, "url": endpoint.url, "signing_key_set": True}
    if call.caller.connect is None:
        found["signing_key"] = endpoints.key_of(call.service, endpoint)
    return found | _state_json(endpoint)


def _workflow_json(endpoint: Endpoint) -> dict[str, Any]:
    """A workflow as those see it whose events go there: its name and how it does, not where it is."""
    return {"id": endpoint.id, "name": endpoint.name, **_state_json(endpoint)}


def _state_json(endpoint: Endpoint) -> dict[str, Any]:
    state = {
        "state": endpoint.state,
        "since": endpoint.state_since // SECOND,
        "last_error": endpoint.last_error,
        "consecutive_failures": endpoint.consecutive_failures,
        "sheds": endpoint.sheds,
    }
    return {"active": endpoint.active, "delivery_state": state}


T = "P/deployed-triggers/<trigger_id>"
READ, WRITE = (scopes.DEPLOYED_TRIGGERS_READ,), (scopes.DEPLOYED_TRIGGERS_WRITE,)
OPERATIONS = (
    Operation("list_webhooks", "GET", f"{T}/webhooks", index, READ, query=Owned),
    Operation("set_webhooks", "PUT", f"{T}/webhooks", replace, WRITE, query=Owned, body=Urls),
    Operation("get_webhook", "GET", f"{T}/webhooks/<webhook_id>", show, READ, query=Owned),
    Operation(
        "regenerate_signing_key",
        "POST",
        f"{T}/webhooks/<webhook_id>/regenerate_signing_key",
        regenerate,
        WRITE,
        query=Owned,
    ),
    Operation(
        "reset_delivery_state", "POST", f"{T}/webhooks/<webhook_id>/reset_delivery_state", reset, WRITE, query=Owned
    ),
    Operation("list_pipelines", "GET", f"{T}/pipelines", workflows, READ, query=WorkflowList),
    Operation("set_pipelines", "PUT", f"{T}/pipelines", set_workflows, WRITE, query=Owned, body=Workflows),
)
